'use strict';

/* Where what stands on the "Speed of light" page: headings, controls, and places for charts and tables. */
window.speedoflight = window.speedoflight || {};

(function(page) {
    function select(parent, label, options, value, chosen) {
        const frame = page.words.element('label', parent, label + ' ');
        const made = page.words.element('select', frame);
        options.forEach(([key, text]) => page.words.element('option', made, text, {value: key}));
        made.value = String(value);
        made.addEventListener('change', () => chosen(made.value));
        return made;
    }

    function section(parent, title, note) {
        const made = page.words.element('section', parent);
        page.words.element('h2', made, title);
        if (note) {
            page.words.element('p', made, note, {'class': 'sol-note'});
        }
        return made;
    }

    function chart(parent, label) {
        return page.words.element('div', parent, null, {'class': 'sol-chart', role: 'img', 'aria-label': label});
    }

    /* Fill `place` once; returns the parts that are filled anew. `asked`: cards, ranges, state, choose, view. */
    page.layout = function(place, asked) {
        const {element} = page.words, {state, choose} = asked;
        const controls = element('form', place, null, {'class': 'sol-controls', 'aria-label': 'Controls'});
        controls.addEventListener('submit', event => event.preventDefault());
        const parts = {};
        const fill_cells = () => {
            parts.cell.textContent = '';
            asked.view().labels.forEach((label, index) => element('option', parts.cell, label, {value: index}));
            parts.cell.value = String(asked.view().cell);
        };
        select(controls, 'Card', asked.cards.map((card, index) => [index, card.label]), state.card, value => {
            choose({card: Number(value)});
            fill_cells();
        });
        select(controls, 'Show', Object.entries(page.figures.METRICS).map(([key, metric]) => [key, metric.name]), state.metric,
               value => choose({metric: value}));
        select(controls, 'Range', asked.ranges, state.range, value => choose({range: Number(value)}));
        parts.cell = select(controls, 'Cell', [], '', value => choose({cell: Number(value)}));
        fill_cells();
        const filter = element('input', element('label', controls, 'Cells with '), null, {type: 'search', placeholder: 'part of a name'});
        filter.addEventListener('input', () => choose({filter: filter.value}));

        parts.summary = element('div', place, null, {'class': 'sol-tiles'});
        const course = section(place, 'Over the commits', 'Each thin line is a cell, the thick one their geometric mean, ' +
            'the orange one the cell that is chosen. 100 % is the speed of light: the time in which the hardware’s compute ' +
            'or memory limit allows the work.');
        parts.course = chart(course, 'Share of the hardware’s limit over commits, for all cells, their mean and the chosen cell');
        parts.behind_course = element('div', course);
        parts.places = element('div', course);
        const heat = section(place, 'Cells × commits', 'The lighter, the nearer to the limit; with “score of its best”, to the best that the cell had been until then. ' +
            'A click chooses the cell and the commit.');
        parts.heat = chart(heat, 'Share of the hardware’s limit, cells by commits, as shades');
        parts.behind_heat = element('div', heat);
        const one = section(place, 'At one commit');
        const steps = element('div', one, null, {'class': 'sol-steps'});
        const move = by => choose({at: Math.max(0, Math.min(asked.view().card.revisions.length - 1, asked.view().at + by))});
        element('button', steps, '◀', {type: 'button', 'aria-label': 'older commit'}).addEventListener('click', () => move(-1));
        parts.slider = element('input', steps, null, {type: 'range', min: 0, 'aria-label': 'commit'});
        parts.slider.addEventListener('input', () => choose({at: Number(parts.slider.value)}));
        element('button', steps, '▶', {type: 'button', 'aria-label': 'newer commit'}).addEventListener('click', () => move(1));
        element('button', steps, 'newest', {type: 'button'}).addEventListener('click', () => choose({at: null}));
        parts.commit = element('p', one, null, {'class': 'sol-commit', 'aria-live': 'polite'});
        parts.no_roofline = element('p', one, 'No MFU and no roofline: what the cells do and what this card can is not known. ' +
            'The next asv run or solwatch gate there keeps it.', {'class': 'sol-note'});
        parts.roofline = chart(one, 'Roofline: throughput of each cell over its arithmetic intensity, below the ceilings');
        parts.cells = element('div', one);
        const gates = section(place, 'Gates');
        parts.gates = element('div', gates);
        return parts;
    };
})(window.speedoflight);
