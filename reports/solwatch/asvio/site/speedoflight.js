'use strict';

/* The "Speed of light" page. Every text from the data goes through textContent or setAttribute, never through HTML:
   names of layers, parameters and machines are whatever a suite's author wrote. */
$(document).ready(function() {
    var NAME = 'speedoflight';
    var WIDTH = 90, HEIGHT = 22, EDGE = 3;
    var SVG = 'http://www.w3.org/2000/svg';
    var place = document.getElementById(NAME + '-display');
    var drawn = false;

    function element(tag, text, parent) {
        var made = document.createElement(tag);
        if (text !== null) {
            made.textContent = text;
        }
        parent.appendChild(made);
        return made;
    }

    function commit(revision) {
        return $.asv.get_commit_hash(revision) || ('revision ' + revision);
    }

    /* Score against commit, evenly spaced; the axis runs from 0 to 1, so that all cells can be compared by eye. */
    function history_line(history, parent) {
        var svg = document.createElementNS(SVG, 'svg');
        svg.setAttribute('width', WIDTH);
        svg.setAttribute('height', HEIGHT);
        svg.setAttribute('role', 'img');
        var points = history.map(function(point, index) {
            var x = history.length === 1 ? WIDTH - EDGE :
                EDGE + index * (WIDTH - 2 * EDGE) / (history.length - 1);
            var y = EDGE + (1 - Math.min(1, point[1])) * (HEIGHT - 2 * EDGE);
            return [x, y];
        });
        var line = document.createElementNS(SVG, 'polyline');
        line.setAttribute('points', points.map(function(p) { return p.join(','); }).join(' '));
        svg.appendChild(line);
        points.forEach(function(point, index) {
            var dot = document.createElementNS(SVG, 'circle');
            dot.setAttribute('cx', point[0]);
            dot.setAttribute('cy', point[1]);
            dot.setAttribute('r', index === points.length - 1 ? 2.5 : 1.2);
            var title = document.createElementNS(SVG, 'title');
            title.textContent = commit(history[index][0]) + ': ' + percent(history[index][1]);
            dot.appendChild(title);
            svg.appendChild(dot);
        });
        parent.appendChild(svg);
    }

    function percent(score) {
        return (100 * score).toFixed(1) + ' %';
    }

    function cell(history, row) {
        var td = element('td', null, row);
        if (!history.length) {
            td.className = 'none';
            td.textContent = '–';
            return;
        }
        var latest = history[history.length - 1];
        td.style.backgroundColor = 'rgba(60, 160, 90, ' + (0.05 + 0.35 * Math.min(1, latest[1])).toFixed(2) + ')';
        td.title = 'at ' + commit(latest[0]);
        element('span', percent(latest[1]), td);
        history_line(history, td);
    }

    function table(data) {
        element('h2', data.title, place);
        var made = element('table', null, place);
        var caption = element('caption', 'on ' + data.machine + ' · ', made);
        var link = element('a', 'all graphs', caption);
        link.setAttribute('href', '#' + encodeURIComponent(data.benchmark));
        var head = element('tr', null, element('thead', null, made));
        element('th', data.row_name + (data.column_name ? ' \\ ' + data.column_name : ''), head);
        data.columns.forEach(function(name) { element('th', name || 'score', head); });
        var body = element('tbody', null, made);
        data.rows.forEach(function(row) {
            if (!row.cells.some(function(history) { return history.length; })) {
                return;
            }
            var tr = element('tr', null, body);
            element('th', row.name, tr);
            row.cells.forEach(function(history) { cell(history, tr); });
        });
    }

    function draw(data) {
        place.textContent = '';
        element('p', 'SOL score of the newest commit measured: T_SOL / T, where T_SOL is the time that the ' +
            'hardware\'s compute or memory limit allows and T the time measured. 100 % is the speed of light. ' +
            'The line is the score\'s history, from 0 to 100 %.', place);
        data.tables.forEach(table);
        if (!data.tables.length) {
            element('p', 'No benchmark has a score yet: measure a suite with track_sol_gap (asv run, solwatch run).',
                    place);
        }
        drawn = true;
    }

    $.asv.register_page(NAME, function() {
        $(place).show();
        $('#title').text('Speed of light');
        if (!drawn) {
            $.ajax({url: NAME + '.json?timestamp=' + $.asv.main_timestamp, dataType: 'json', cache: true})
                .done(draw)
                .fail(function() { $.asv.ui.network_error(); });
        }
    });

    /* asv hides its own pages when another is shown; it doesn't know this one. */
    $(window).on('hashchange', function() {
        if ($.asv.parse_hash_string(window.location.hash).location[0] !== NAME) {
            $(place).hide();
        }
    });
});
