'use strict';

/* Tables of the "Speed of light" page: cells at a commit, change points, gates, and the figures behind the charts. */
window.speedoflight = window.speedoflight || {};

(function(page) {
    const TITLES = ['commit', 'date', 'subject'];
    const MOST_COLUMNS = 48;

    /* A link to a commit where the project says how one is made, else its short hash. */
    function commit_link(parent, commit) {
        const base = $.asv.main_json.show_commit_url;
        if (/^https?:\/\//.test(base)) {
            page.words.element('a', parent, commit.hash, {href: base + commit.full});
        } else {
            page.words.element('code', parent, commit.hash);
        }
    }

    function graph_link(view, cell) {
        const timed = cell.times_s.some(value => value !== null);
        const name = timed ? cell.benchmark.replace(/\.track_sol_gap$/, '.track_time') : cell.benchmark;
        const values = Object.entries(cell.values).map(([key, value]) => ['p-' + key, value]);
        const params = Object.entries(view.card.params).filter(([key, value]) => value && key === 'machine');
        return '#' + encodeURIComponent(name) + '?' +
            [...params, ...values].map(pair => pair.map(encodeURIComponent).join('=')).join('&');
    }

    function places(parent, view) {
        const {element, change, percent, count} = page.words;
        if (!view.places.length) {
            element('p', parent, 'No level changed by more than 2 %.', {'class': 'sol-note'});
            return;
        }
        const rows = view.places.map(place => {
            const commit = view.commits[place.bad], worst = place.changes[0], cell = view.card.cells[worst.cell];
            const between = view.card.revisions[place.bad] - view.card.revisions[place.good];
            return [
                th => element('button', th, commit.date, {type: 'button', 'class': 'sol-link'})
                    .addEventListener('click', () => view.choose({at: place.bad, cell: worst.cell})),
                td => element('span', td, place.direction === 'slower' ? '▼ slower' : '▲ faster', {'class': 'sol-' + place.direction}),
                td => {
                    commit_link(td, commit);
                    element('span', td, between > 1 ? ' or one of the ' + (between - 1) + ' before' : '');
                    element('div', td, commit.subject, {'class': 'sol-subject'});
                },
                commit.author,
                count(place.changes.length, 'cell'),
                change(place.ratio),
                view.labels[worst.cell] + ': ' + percent(worst.before) + ' → ' + percent(worst.after),
                change(place.on_mean),
                td => gates_of(td, view, commit.full)
            ];
        });
        page.words.table(
            parent, 'Change points: where the SOL score of cells took another level, by asv’s step detection, newest first',
            ['date', 'cells became', 'commit', 'author', 'how many', 'their score', 'largest change', 'mean of all', 'gate'], rows, [1, 2, 3, 6, 8]
        );
    }

    function gates_of(parent, view, hash) {
        const runs = view.runs.filter(run => run.head === hash);
        runs.forEach(run => gate_link(parent, run));
        if (!runs.length) {
            parent.textContent = '–';
        }
    }

    function gate_link(parent, run) {
        page.words.element('a', parent, run.state, {href: 'gates/' + encodeURIComponent(run.page), title: run.verdict});
    }

    function cells(parent, view) {
        const {element, percent, seconds, flops} = page.words, figures = page.figures;
        const columns = [
            ['SOL score', index => view.scores[index][view.at], percent],
            ['best', index => figures.best_until(view.card.cells[index], view.at), percent],
            ['of best', index => figures.METRICS.best.of(view.card.cells[index], view.at), percent],
            ['time', index => figures.time_s(view.card.cells[index], view.at), seconds],
            ['limit', index => figures.limit_s(view.card.cells[index]), seconds],
            ['above it', index => above(view, index), seconds],
            ['MFU', index => figures.METRICS.mfu.of(view.card.cells[index], view.at), percent],
            ['MBU', index => figures.METRICS.mbu.of(view.card.cells[index], view.at), percent],
            ['achieved', index => achieved(view, index), flops],
            ['bound by', index => figures.bound(view.card.cells[index]), value => value || '–']
        ];
        const sorted = [...view.shown], by = view.sort.column;
        const key = by < 0 ? index => view.labels[index] : columns[by][1];
        sorted.sort((a, b) => compare(key(a), key(b)) * (view.sort.down ? -1 : 1));
        const titles = ['cell', ...columns.map(column => column[0])].map((title, index) => th => {
            const here = index - 1 === by;
            th.setAttribute('aria-sort', here ? (view.sort.down ? 'descending' : 'ascending') : 'none');
            element('button', th, title + (here ? (view.sort.down ? ' ↓' : ' ↑') : ''), {type: 'button', 'class': 'sol-link', 'data-column': index - 1})
                .addEventListener('click', () => view.choose({sort: {column: index - 1, down: here && !view.sort.down}}));
        });
        const rows = sorted.map(index => [
            (th, tr) => {
                const chosen = index === view.cell;
                tr.classList.toggle('sol-chosen', chosen);
                element('button', th, view.labels[index], {type: 'button', 'class': 'sol-link', 'aria-pressed': String(chosen)})
                    .addEventListener('click', () => view.choose({cell: index}));
                element('a', th, 'graph', {href: graph_link(view, view.card.cells[index]), 'aria-label': 'asv’s graph of ' + view.labels[index]});
            },
            ...columns.map(([, of, show], at) => at ? show(of(index)) : td => bar(td, of(index)))
        ]);
        page.words.table(parent, 'Cells at commit ' + view.commits[view.at].hash + ' of ' + view.commits[view.at].date, titles, rows, [10]);
    }

    function compare(a, b) {
        if (a === null || b === null) {
            return (a === null) - (b === null);
        }
        return typeof a === 'string' ? a.localeCompare(b, undefined, {numeric: true}) : a - b;
    }

    /* A score as text over a bar that is full at the speed of light. */
    function bar(td, value) {
        td.classList.add('sol-bar');
        if (value !== null) {
            td.style.setProperty('--share', (100 * Math.min(1, value)).toFixed(1) + '%');
        }
        page.words.element('span', td, page.words.percent(value));
    }

    function above(view, index) {
        const cell = view.card.cells[index], time = page.figures.time_s(cell, view.at), limit = page.figures.limit_s(cell);
        return time === null || limit === null ? null : Math.max(0, time - limit);
    }

    function achieved(view, index) {
        const cell = view.card.cells[index], time = page.figures.time_s(cell, view.at);
        return time === null || !cell.work ? null : cell.work.flops / time;
    }

    function gates(parent, view) {
        const {element} = page.words;
        if (!view.runs.length) {
            element('p', parent, 'No gate has run here yet: solwatch gate BASE HEAD keeps a page of each run.', {'class': 'sol-note'});
            return;
        }
        page.words.table(parent, 'Runs of the gate, newest first', ['when', 'report', 'verdict', 'commit', 'against', 'machine'], view.runs.map(run => [
            run.created_at.slice(0, 16).replace('T', ' '),
            td => gate_link(td, run),
            run.verdict, run.head.slice(0, 8), run.base === null ? '–' : run.base.slice(0, 8), run.machine + ', ' + run.model
        ]), [1, 2, 3, 4, 5]);
    }

    function course_values(parent, view) {
        const name = page.figures.METRICS[view.metric].name, rows = [];
        for (let at = view.to - 1; at >= view.from; at -= 1) {
            const commit = view.commits[at];
            rows.push([commit.hash, commit.date, commit.subject, page.words.percent(view.mean[at]), page.words.percent(view.series[view.cell][at])]);
        }
        page.words.table(parent, name + ' by commit, newest first', [...TITLES, 'mean of the cells', view.labels[view.cell]], rows, [1, 2]);
    }

    function heat_values(parent, view) {
        const columns = page.figures.binned(view.mean, view.from, view.to, MOST_COLUMNS);
        const titles = columns.map(bin => view.commits[bin.start].hash + (bin.end - bin.start > 1 ? '…' : ''));
        const rows = view.shown.map(index => [
            view.labels[index],
            ...page.figures.binned(view.series[index], view.from, view.to, MOST_COLUMNS).map(bin => page.words.percent(bin.value))
        ]);
        page.words.table(
            parent, page.figures.METRICS[view.metric].name + ' by cell and commit; where commits share a column, their median',
            ['cell', ...titles], rows
        );
    }

    page.tables = {
        places: places, cells: cells, gates: gates, gates_of: gates_of, commit_link: commit_link,
        course_values: course_values, heat_values: heat_values
    };
})(window.speedoflight);
