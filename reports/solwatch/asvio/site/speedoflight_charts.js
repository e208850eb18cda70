'use strict';

/* Charts of the "Speed of light" page, as specifications for Vega-Lite. Names of cells are data in them, never part
   of an expression. Colours are of Okabe and Ito's set and of viridis: told apart however colours are seen. */
window.speedoflight = window.speedoflight || {};

(function(page) {
    const MOST_COLUMNS = 240;
    const SLOWER = '#d55e00', FASTER = '#0072b2';
    const DARK = {ink: '#d7dde3', grid: '#39424c', line: '#8fa3b5', mean: '#56b4e9', chosen: '#e69f00', roof: '#d7dde3'};
    const LIGHT = {ink: '#24303b', grid: '#dfe4e9', line: '#8497a8', mean: '#0072b2', chosen: '#c45a00', roof: '#24303b'};

    function theme() {
        return window.matchMedia('(prefers-color-scheme: dark)').matches ? DARK : LIGHT;
    }

    function config(colours) {
        const text = {labelColor: colours.ink, titleColor: colours.ink, labelFontSize: 12, titleFontSize: 12};
        return {
            background: null,
            font: 'system-ui, sans-serif',
            view: {stroke: colours.grid},
            axis: {...text, gridColor: colours.grid, domainColor: colours.grid, tickColor: colours.grid, titleFontWeight: 500},
            legend: {...text, titleFontWeight: 500}
        };
    }

    /* Dates under an axis of positions: about eight of them, as a lookup of numbers and dates alone. */
    function commit_axis(view) {
        const step = Math.max(1, Math.ceil((view.to - view.from) / 8));
        const at = [];
        for (let position = view.from; position < view.to; position += step) {
            at.push(position);
        }
        const dates = at.map(position => view.commits[position].date);
        return {
            title: 'commits, oldest first', values: at, grid: false, labelFlush: true,
            labelExpr: JSON.stringify(dates) + '[indexof(' + JSON.stringify(at) + ', datum.value)]'
        };
    }

    function x_scale(view) {
        return {domain: [view.from - 0.5, view.to - 0.5], nice: false, zero: false};
    }

    function point(view, cell, bin, name) {
        const first = view.commits[bin.start], last = view.commits[bin.end - 1];
        return {  // a rectangle reaches a little under the next one: no seams
            cell: cell, name: name, from: bin.start - 0.5, to: Math.min(view.to, bin.end + (bin.end - bin.start) / 12) - 0.5, at: bin.end - 1,
            middle: (bin.start + bin.end - 1) / 2, value: bin.value,
            when: first === last ? first.hash + ' ' + first.date : first.hash + '…' + last.hash + ', ' + last.date
        };
    }

    function tooltip(value) {
        return [
            {field: 'name', title: 'cell'}, {field: 'value', title: value, format: '.1%'}, {field: 'when', title: 'commit'}
        ];
    }

    /* All cells as thin lines, their mean and the chosen one as thick ones, change points as triangles. */
    function course(view) {
        const colours = theme(), METRICS = page.figures.METRICS, metric = METRICS[view.metric].name;
        const lines = [];
        view.shown.forEach(index => {
            page.figures.binned(view.series[index], view.from, view.to, MOST_COLUMNS).forEach(bin => {
                lines.push(point(view, index, bin, view.card.cells[index].name));
            });
        });
        const mean = page.figures.binned(view.mean, view.from, view.to, 4 * MOST_COLUMNS)
            .map(bin => point(view, -1, bin, 'mean of the cells'));
        const places = view.places.filter(place => place.bad >= view.from && place.bad < view.to).map(place => ({
            at: place.bad, direction: place.direction, from: view.commits[place.bad].hash,
            cells: place.changes.length, change: page.words.change(place.ratio)
        }));
        const x = {field: 'middle', type: 'quantitative', scale: x_scale(view), axis: commit_axis(view)};
        const few = view.to - view.from <= 40 ? 1 : 0;  // a line of one commit is no line
        const low = METRICS[view.metric].domain[0], high = Math.max(1, view.highest);  // above it: the triangles
        const y = {
            field: 'value', type: 'quantitative', scale: {domain: [low, high + 0.07 * (high - low)], nice: false},
            axis: {title: metric, format: '.0%'}
        };
        return {
            width: 'container', height: 280, autosize: {type: 'fit-x', contains: 'padding'}, config: config(colours),
            params: [{name: 'at', value: view.at}],
            layer: [
                {
                    data: {values: lines},
                    mark: {type: 'line', strokeWidth: 1, opacity: 0.55, color: colours.line, tooltip: true, clip: true, point: few ? {size: 12, color: colours.line} : false},
                    encoding: {x: x, y: y, detail: {field: 'cell', type: 'nominal'}, tooltip: {field: 'name', title: 'cell'}}
                },
                {
                    data: {values: mean},
                    mark: {type: 'line', strokeWidth: 2.5, color: colours.mean, clip: true, point: {size: 50, opacity: few}},
                    encoding: {x: x, y: y, tooltip: tooltip('mean ' + metric)}
                },
                {
                    data: {name: 'chosen', values: chosen(view)},
                    mark: {type: 'line', strokeWidth: 2, color: colours.chosen, clip: true, point: {size: 50, opacity: few}},
                    encoding: {x: x, y: y, tooltip: tooltip(metric)}
                },
                {mark: {type: 'rule', color: colours.ink, strokeDash: [2, 3]}, encoding: {x: {datum: {expr: 'at'}, type: 'quantitative'}}, data: {values: [{}]}},
                {
                    data: {values: places}, mark: {type: 'point', filled: true, size: 110, opacity: 1, y: 8},
                    encoding: {
                        x: {field: 'at', type: 'quantitative', scale: x_scale(view)},
                        shape: {
                            field: 'direction', scale: {domain: ['slower', 'faster'], range: ['triangle-down', 'triangle-up']},
                            legend: {title: 'change points', orient: 'top'}
                        },
                        color: {field: 'direction', scale: {domain: ['slower', 'faster'], range: [SLOWER, FASTER]}},
                        tooltip: [
                            {field: 'direction', title: 'cells became'}, {field: 'cells', title: 'how many'},
                            {field: 'change', title: 'score, on average'}, {field: 'from', title: 'at commit'}
                        ]
                    }
                }
            ]
        };
    }

    function chosen(view) {
        return page.figures.binned(view.series[view.cell], view.from, view.to, 4 * MOST_COLUMNS)
            .map(bin => point(view, view.cell, bin, view.card.cells[view.cell].name));
    }

    /* Cells × commits. Several commits share a column where there are more commits than columns. */
    function heat(view) {
        const colours = theme(), METRICS = page.figures.METRICS, metric = METRICS[view.metric].name;
        const values = [], labels = view.shown.map(index => view.labels[index]);
        view.shown.forEach((index, row) => {
            page.figures.binned(view.series[index], view.from, view.to, MOST_COLUMNS).forEach(bin => {
                if (bin.value !== null) {
                    values.push({label: labels[row], ...point(view, index, bin, view.card.cells[index].name)});
                }
            });
        });
        const rows = {field: 'label', type: 'nominal', sort: null, scale: {domain: labels}};
        return {
            width: 'container', height: 16 * labels.length, autosize: {type: 'fit-x', contains: 'padding'}, config: config(colours),
            params: [{name: 'at', value: view.at}, {name: 'chosen', value: view.cell}],
            layer: [
                {
                    data: {values: values}, mark: {type: 'rect', tooltip: true},
                    encoding: {
                        x: {field: 'from', type: 'quantitative', scale: x_scale(view), axis: commit_axis(view)},
                        x2: {field: 'to'},
                        y: {...rows, axis: {title: null, labelLimit: 260}},
                        color: {
                            field: 'value', type: 'quantitative', scale: {scheme: 'viridis', domain: METRICS[view.metric].domain, clamp: true},
                            legend: {title: metric, format: '.0%', orient: 'top', gradientLength: 220}
                        },
                        tooltip: tooltip(metric)
                    }
                },
                {
                    data: {values: view.shown.map((index, row) => ({label: labels[row], cell: index}))},
                    transform: [{filter: 'datum.cell === chosen'}],
                    mark: {type: 'rect', fill: null, stroke: colours.chosen, strokeWidth: 2},
                    encoding: {y: rows}
                },
                {mark: {type: 'rule', color: colours.chosen, strokeWidth: 2}, encoding: {x: {datum: {expr: 'at'}, type: 'quantitative'}}, data: {values: [{}]}}
            ]
        };
    }

    /* Achieved throughput against arithmetic intensity at one commit, below the roofs of the cells' types. */
    function roofline(view) {
        const colours = theme(), points = [], roofs = new Map();
        view.shown.forEach(index => {
            const cell = view.card.cells[index], work = cell.work, time = page.figures.time_s(cell, view.at);
            if (!work) {
                return;
            }
            const kinds = [[work.kind, work.peak_flops, work.peak_bandwidth]];
            if (work.kind === 'rated' && work.sustained_flops && work.sustained_bandwidth) {
                kinds.push(['sustained', work.sustained_flops, work.sustained_bandwidth]);
            }
            kinds.forEach(([kind, flops, bandwidth]) => {
                roofs.set([kind, work.dtype, flops, bandwidth].join(), {kind: kind, dtype: work.dtype, flops: flops, bandwidth: bandwidth});
            });
            if (time !== null) {
                points.push({
                    cell: index, at: view.at, name: cell.name, intensity: work.flops / work.traffic_bytes,
                    flops: work.flops / time, value: cell.scores[view.at], time: page.words.seconds(time),
                    achieved: page.words.flops(work.flops / time), bound: page.figures.bound(cell)
                });
            }
        });
        const intensities = view.card.cells.filter(cell => cell.work).map(cell => cell.work.flops / cell.work.traffic_bytes);
        const ridges = [...roofs.values()].map(roof => roof.flops / roof.bandwidth);
        const least = Math.min(...intensities, ...ridges) / 2, most = Math.max(...intensities, ...ridges) * 2;
        const lines = [];
        [...roofs.values()].forEach((roof, index) => {
            [least, roof.flops / roof.bandwidth, most].forEach(intensity => lines.push({
                roof: index, kind: roof.kind, name: roof.dtype + ', ' + roof.kind, intensity: intensity,
                flops: Math.min(roof.flops, intensity * roof.bandwidth)
            }));
        });
        const x = {field: 'intensity', type: 'quantitative', scale: {type: 'log', domain: [least, most], nice: false},
                   axis: {title: 'arithmetic intensity, FLOP/byte', tickCount: 6}};
        const y = {field: 'flops', type: 'quantitative', scale: {type: 'log'},
                   axis: {title: 'throughput, FLOP/s', format: '.2s', tickCount: 6}};
        return {
            width: 'container', height: 360, autosize: {type: 'fit-x', contains: 'padding'}, config: config(colours),
            params: [{name: 'chosen', value: view.cell}],
            layer: [
                {
                    data: {values: lines}, mark: {type: 'line', color: colours.roof, strokeWidth: 1.5, tooltip: true},
                    encoding: {
                        x: x, y: y, detail: {field: 'roof', type: 'nominal'},
                        strokeDash: {field: 'kind', scale: {domain: ['rated', 'measured', 'sustained'], range: [[1, 0], [1, 0], [5, 4]]},
                                     legend: {title: 'ceiling', orient: 'top', values: [...new Set(lines.map(line => line.kind))]}},
                        tooltip: {field: 'name', title: 'ceiling'}
                    }
                },
                {
                    data: {name: 'points', values: points},
                    mark: {type: 'point', filled: true, opacity: 0.9, stroke: colours.ink},
                    encoding: {
                        x: x, y: y,
                        size: {condition: {test: 'datum.cell === chosen', value: 180}, value: 70},
                        strokeWidth: {condition: {test: 'datum.cell === chosen', value: 2.5}, value: 0.5},
                        color: {field: 'value', type: 'quantitative', scale: {scheme: 'viridis', domain: [0, 1], clamp: true},
                                legend: {title: 'SOL score', format: '.0%', orient: 'top'}},
                        tooltip: [
                            {field: 'name', title: 'cell'}, {field: 'value', title: 'SOL score', format: '.1%'},
                            {field: 'time', title: 'time'}, {field: 'achieved', title: 'achieved'}, {field: 'bound', title: 'bound by'}
                        ]
                    }
                }
            ]
        };
    }

    page.charts = {course: course, chosen: chosen, heat: heat, roofline: roofline, MOST_COLUMNS: MOST_COLUMNS};
})(window.speedoflight);
