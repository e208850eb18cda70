'use strict';

/* Figures as text, and elements made of text. Whatever comes from outside (names of cells, machines, branches and
   authors, subjects of commits) goes through textContent or setAttribute, never through HTML. */
window.speedoflight = window.speedoflight || {};

(function(page) {
    function element(tag, parent, text, attributes) {
        const made = document.createElement(tag);
        if (text !== undefined && text !== null) {
            made.textContent = text;
        }
        Object.entries(attributes || {}).forEach(([name, value]) => made.setAttribute(name, value));
        if (parent) {
            parent.appendChild(made);
        }
        return made;
    }

    function percent(value) {
        return value === null || value === undefined ? '–' : (100 * value).toFixed(1) + ' %';
    }

    /* +3.1 % for a ratio of 1.031. */
    function change(ratio) {
        const share = 100 * (ratio - 1);
        return (share < 0 ? '−' : '+') + Math.abs(share).toFixed(1) + ' %';
    }

    function scaled(value, units) {
        if (value === null || value === undefined) {
            return '–';
        }
        const unit = units.find(each => value >= each[0]) || units[units.length - 1];
        return (value / unit[0]).toPrecision(4) + ' ' + unit[1];
    }

    function seconds(value) {
        return scaled(value, [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']]);
    }

    function flops(value) {
        return scaled(value, [[1e15, 'PFLOP/s'], [1e12, 'TFLOP/s'], [1e9, 'GFLOP/s'], [1e6, 'MFLOP/s']]);
    }

    function date(milliseconds) {
        const day = new Date(milliseconds);
        return isNaN(day) ? '' : day.toISOString().slice(0, 10);
    }

    function count(number, noun) {
        return number + ' ' + noun + (number === 1 ? '' : 's');
    }

    /* A table; a cell of `rows` is text, or a function that fills its element. The first column names the row;
       `words` are the numbers of those others that hold words, and begin at the left. */
    function table(parent, caption, titles, rows, words) {
        const aligned = index => index && (words || []).includes(index) ? {'class': 'sol-words'} : {};
        const frame = element('div', parent, null, {'class': 'sol-scroll', tabindex: '0', role: 'region'});
        frame.setAttribute('aria-label', caption);
        const made = element('table', frame);
        element('caption', made, caption);
        const head = element('tr', element('thead', made));
        titles.forEach((title, index) => {
            const th = element('th', head, typeof title === 'function' ? null : title, {scope: 'col', ...aligned(index)});
            if (typeof title === 'function') {
                title(th);
            }
        });
        const body = element('tbody', made);
        rows.forEach(row => {
            const tr = element('tr', body);
            row.forEach((cell, index) => {
                const td = element(index ? 'td' : 'th', tr, null, index ? aligned(index) : {scope: 'row'});
                if (typeof cell === 'function') {
                    cell(td, tr);
                } else {
                    td.textContent = cell;
                }
            });
        });
        return made;
    }

    /* What a chart shows, as a table that is made when it is opened. */
    function behind(parent, summary, fill) {
        const details = element('details', parent);
        element('summary', details, summary);
        details.addEventListener('toggle', () => {
            if (details.open && details.children.length === 1) {
                fill(details);
            }
        });
    }

    page.words = {
        element: element, percent: percent, change: change, seconds: seconds, flops: flops, date: date, count: count,
        table: table, behind: behind
    };
})(window.speedoflight);
