'use strict';

/* The "Speed of light" page: its state, and what is drawn anew when that changes. */
window.speedoflight = window.speedoflight || {};

$(document).ready(function() {
    const NAME = 'speedoflight', page = window.speedoflight;
    const RANGES = [[0, 'all commits'], [500, 'last 500'], [200, 'last 200'], [50, 'last 50']];
    const place = document.getElementById(NAME + '-display');
    const state = {card: 0, metric: 'sol', range: 0, filter: '', cell: 0, at: null, sort: {column: 0, down: false}};
    let data = null, library = null, parts = null, view = null;

    function load_charts() {
        library = library || new Promise((done, failed) => {
            const script = document.createElement('script');
            script.type = 'module';
            script.src = NAME + '-vega.js';
            script.onload = () => done(window.solwatchCharts);
            script.onerror = () => failed(new Error(script.src + ' could not be loaded'));
            document.head.appendChild(script);
        });
        return library;
    }

    function commit_at(revision) {
        const full = $.asv.main_json.revision_to_hash[revision] || '', told = data.subjects[revision] || ['', ''];
        return {
            full: full, hash: full.slice(0, 8) || String(revision), subject: told[0], author: told[1],
            date: page.words.date($.asv.main_json.revision_to_date[revision])
        };
    }

    /* Names for a narrow place: without what all of them begin with, and each once. */
    function short_names(cells) {
        const one = new Set(cells.map(cell => cell.benchmark)).size === 1, seen = new Map();
        return cells.map(cell => {
            const inner = /\((.*)\)$/.exec(cell.name), name = one && inner ? inner[1] : cell.name.split('.').slice(-1)[0] || cell.name;
            const bare = name.replace(/'/g, '');
            seen.set(bare, (seen.get(bare) || 0) + 1);
            return seen.get(bare) > 1 ? bare + ' (' + seen.get(bare) + ')' : bare;
        });
    }

    /* Everything that is shown, out of data and state. */
    function make_view() {
        const card = data.cards[state.card], count = card.revisions.length, figures = page.figures;
        const of_card = view && view.card === card ? view : {};
        const labels = of_card.labels || short_names(card.cells);
        const series = of_card.metric === state.metric ? of_card.series :
            card.cells.map(cell => figures.series(cell, state.metric, count));
        const scores = card.cells.map(cell => cell.scores);
        const wanted = state.filter.toLowerCase();
        const shown = card.cells.map((_, index) => index).filter(index =>
            labels[index].toLowerCase().includes(wanted) || card.cells[index].name.toLowerCase().includes(wanted));
        return {
            card: card, metric: state.metric, labels: labels, series: series, scores: scores, shown: shown,
            cell: Math.min(state.cell, card.cells.length - 1), at: state.at === null ? count - 1 : Math.min(state.at, count - 1),
            from: state.range ? Math.max(0, count - state.range) : 0, to: count, sort: state.sort,
            mean: figures.mean_series(shown.map(index => series[index]), count),
            mean_score: figures.mean_series(scores, count),
            highest: Math.min(2, series.flat().reduce((most, value) => value > most ? value : most, 0)),
            commits: of_card.commits || card.revisions.map(commit_at),
            places: of_card.places || figures.places(card), runs: data.runs, choose: choose
        };
    }

    function choose(change) {
        Object.assign(state, change);
        if ('card' in change) {
            Object.assign(state, {cell: 0, at: null});
        }
        const all = ['card', 'metric', 'range', 'filter'].some(name => name in change);
        view = make_view();
        if (all) {
            draw_all();
        } else {
            draw_choice();
        }
        remember();
    }

    /* The address says what is shown, so that it can be passed on. */
    function remember() {
        const told = {card: view.card.label, cell: view.card.cells[view.cell].name, commit: view.commits[view.at].hash, show: state.metric};
        const query = Object.entries(told).map(pair => pair.map(encodeURIComponent).join('=')).join('&');
        window.history.replaceState(null, '', '#/' + NAME + '?' + query);
    }

    function recall() {
        const told = new URLSearchParams(window.location.hash.split('?')[1] || '');
        const card = data.cards.findIndex(each => each.label === told.get('card'));
        state.card = Math.max(0, card);
        const chosen = data.cards[state.card];
        state.cell = Math.max(0, chosen.cells.findIndex(each => each.name === told.get('cell')));
        const at = chosen.revisions.findIndex(each => commit_at(each).hash === told.get('commit'));
        state.at = at < 0 ? null : at;
        state.metric = told.get('show') in page.figures.METRICS ? told.get('show') : 'sol';
    }

    function chart(name, spec, ready) {
        const frame = parts[name];
        load_charts().then(embed => embed(frame, spec, {actions: false, renderer: 'canvas'})).then(result => {
            if (frame.drawn) {
                frame.drawn.finalize();
            }
            frame.drawn = result;
            result.view.addEventListener('click', (event, item) => {
                if (item && item.datum && item.datum.at !== undefined) {
                    choose(item.datum.cell >= 0 ? {at: item.datum.at, cell: item.datum.cell} : {at: item.datum.at});
                }
            });
            frame.dataset.drawn = String(Number(frame.dataset.drawn || 0) + 1);
        }).catch(error => {
            frame.textContent = 'The chart can’t be drawn (' + error.message + '); the tables below have its figures.';
        });
    }

    function refill(name, fill) {
        const parent = parts[name];
        parent.textContent = '';
        fill(parent);
    }

    function summary(parent) {
        const {element, percent, change} = page.words, last = view.card.revisions.length - 1;
        const now = page.figures.last_known(view.mean_score, last), first = view.mean_score.findIndex(value => value !== null);
        const scores = view.scores.map(all => all[page.figures.last_known(all, last)]);
        const worst = scores.reduce((least, score, index) => score < scores[least] ? index : least, 0);
        const tiles = [
            [percent(view.mean_score[now]), 'of the speed of light: mean score of ' + page.words.count(scores.length, 'cell') + ' at ' + view.commits[now].hash],
            [change(view.mean_score[now] / view.mean_score[first]), 'mean score since ' + view.commits[first].date],
            [percent(scores[worst]), 'farthest from the limit: ' + view.labels[worst]],
            [String(scores.filter(score => score >= 0.9).length), 'of ' + scores.length + ' within 10 % of the limit']
        ];
        const lost = view.places.filter(each => each.direction === 'slower').length;
        tiles.push([lost + ' ▼  ' + (view.places.length - lost) + ' ▲', 'change points: slower, faster']);
        tiles.forEach(([value, text]) => {
            const tile = element('div', parent, null, {'class': 'sol-tile'});
            element('strong', tile, value);
            element('span', tile, text);
        });
    }

    function at_commit(parent) {
        const {element} = page.words, commit = view.commits[view.at];
        page.tables.commit_link(parent, commit);
        element('span', parent, ' ' + [commit.date, commit.author, commit.subject].filter(Boolean).join(' · '));
        if (data.runs.some(run => run.head === commit.full)) {
            element('span', parent, ' · gate: ');
            page.tables.gates_of(parent, view, commit.full);
        }
        parts.slider.max = view.card.revisions.length - 1;
        parts.slider.value = view.at;
        parts.slider.setAttribute('aria-valuetext', commit.hash + ', ' + commit.date);
    }

    function draw_all() {
        refill('summary', summary);
        refill('places', parent => page.tables.places(parent, view));
        refill('behind_course', parent => page.words.behind(parent, 'Figures of this chart', details => page.tables.course_values(details, view)));
        refill('behind_heat', parent => page.words.behind(parent, 'Figures of this chart', details => page.tables.heat_values(details, view)));
        if (view.shown.length) {
            chart('course', page.charts.course(view));
            chart('heat', page.charts.heat(view));
        }
        draw_choice();
    }

    function draw_choice() {
        const focused = document.activeElement, column = focused && focused.dataset && focused.dataset.column;
        refill('commit', at_commit);
        refill('cells', parent => page.tables.cells(parent, view));
        parts.cell.value = String(view.cell);
        const known = view.card.cells.some(cell => cell.work);
        parts.no_roofline.hidden = known;
        parts.roofline.hidden = !known;
        if (known && view.shown.length) {
            chart('roofline', page.charts.roofline(view));
        }
        ['course', 'heat'].forEach(name => {
            const drawn = parts[name].drawn;
            if (drawn && name === 'course') {
                drawn.view.data('chosen', page.charts.chosen(view)).signal('at', view.at).run();
            } else if (drawn) {
                drawn.view.signal('at', view.at).signal('chosen', view.cell).run();
            }
        });
        if (column !== undefined && column !== null) {
            parts.cells.querySelector('[data-column="' + Number(column) + '"]').focus();
        }
    }

    function draw(found) {
        data = found;
        place.textContent = '';
        if (!data.cards.length) {
            page.words.element('p', place, 'No benchmark has a score yet: measure a suite with track_sol_gap (asv run, solwatch gate).');
            return;
        }
        recall();
        view = make_view();
        parts = page.layout(place, {cards: data.cards, ranges: RANGES, state: state, choose: choose, view: () => view});
        refill('gates', parent => page.tables.gates(parent, view));
        draw_all();
        window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw_all);
    }

    /* The navigation is fixed, and several lines high where the window is narrow. */
    function below_navigation() {
        place.style.top = document.getElementById('nav').offsetHeight + 'px';
    }

    window.addEventListener('resize', below_navigation);

    $.asv.register_page(NAME, function() {
        document.body.classList.add('sol-page');
        $(place).show();
        below_navigation();
        $('#title').text('Speed of light');
        if (data === null) {
            $.ajax({url: NAME + '.json?timestamp=' + $.asv.main_timestamp, dataType: 'json', cache: true})
                .done(draw)
                .fail(function() { $.asv.ui.network_error(); });
        }
    });

    /* asv hides its own pages when another is shown; it doesn't know this one. */
    $(window).on('hashchange', function() {
        if ($.asv.parse_hash_string(window.location.hash).location[0] !== NAME) {
            document.body.classList.remove('sol-page');
            $(place).hide();
        }
    });
});
