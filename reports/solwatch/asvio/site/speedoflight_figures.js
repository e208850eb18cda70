'use strict';

/* Figures of the "Speed of light" page: plain arithmetic on what asv publish wrote, no page and no chart in it.
   `at` is a position among the commits that a card has results of, the oldest first. */
window.speedoflight = window.speedoflight || {};

(function(page) {
    /* What can be shown of a cell. `of` returns a share, null where it isn't known; `domain`: what shades span. */
    const METRICS = {
        sol: {name: 'SOL score', domain: [0, 1], of: (cell, at) => cell.scores[at]},
        best: {name: 'score of its best', domain: [0.8, 1], of: of_best},
        mfu: {name: 'MFU', domain: [0, 1], of: (cell, at) => share(cell, at, 'flops', 'peak_flops')},
        mbu: {name: 'MBU', domain: [0, 1], of: (cell, at) => share(cell, at, 'traffic_bytes', 'peak_bandwidth')}
    };
    const bests = new WeakMap();

    /* The highest score so far at each commit, taken once for a cell. */
    function best_until(cell, at) {
        if (!bests.has(cell)) {
            let most = 0;
            bests.set(cell, cell.scores.map(score => (most = Math.max(most, score || 0))));
        }
        return bests.get(cell)[at] || null;
    }

    function of_best(cell, at) {
        return cell.scores[at] === null ? null : cell.scores[at] / best_until(cell, at);
    }

    /* Time of one call in seconds: asv's own, or, without one, what the score says. */
    function time_s(cell, at) {
        if (cell.times_s[at] !== null) {
            return cell.times_s[at];
        }
        const limit = limit_s(cell);
        return limit === null || cell.scores[at] === null ? null : limit / cell.scores[at];
    }

    function limit_s(cell) {
        const work = cell.work;
        return work ? Math.max(work.flops / work.peak_flops, work.traffic_bytes / work.peak_bandwidth) : null;
    }

    function share(cell, at, amount, peak) {
        const time = time_s(cell, at);
        return cell.work && time !== null ? cell.work[amount] / time / cell.work[peak] : null;
    }

    function bound(cell) {
        const work = cell.work;
        if (!work) {
            return null;
        }
        return work.flops / work.peak_flops >= work.traffic_bytes / work.peak_bandwidth ? 'compute' : 'memory';
    }

    function series(cell, metric, count) {
        return Array.from({length: count}, (_, at) => METRICS[metric].of(cell, at));
    }

    function median(values) {
        const sorted = [...values].sort((a, b) => a - b);
        const middle = sorted.length >> 1;
        return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /* Geometric mean over the cells at each commit. A cell counts by how it moved from its own median, so that a
       commit that lacks some cells doesn't move the mean. */
    function mean_series(all, count) {
        const known = all.map(values => values.filter(value => value > 0)).map(values => values.length ? values : null);
        const medians = known.map(values => values && Math.log(median(values)));
        const there = medians.filter(value => value !== null);
        if (!there.length) {
            return new Array(count).fill(null);
        }
        const level = there.reduce((sum, value) => sum + value, 0) / there.length;
        return Array.from({length: count}, (_, at) => {
            let sum = 0, cells = 0;
            all.forEach((values, index) => {
                if (values[at] > 0) {
                    sum += Math.log(values[at]) - medians[index];
                    cells += 1;
                }
            });
            return cells ? Math.exp(level + sum / cells) : null;
        });
    }

    /* Medians of at most `most` stretches of equal length: more columns than pixels show nothing more. */
    function binned(values, from, to, most) {
        const width = Math.max(1, Math.ceil((to - from) / most));
        const bins = [];
        for (let start = from; start < to; start += width) {
            const end = Math.min(to, start + width);
            const known = values.slice(start, end).filter(value => value !== null);
            bins.push({start: start, end: end, value: known.length ? median(known) : null});
        }
        return bins;
    }

    /* Last position at or before `at` where the cell has a value, -1 without one. */
    function last_known(values, at) {
        while (at >= 0 && values[at] === null) {
            at -= 1;
        }
        return at;
    }

    /* As few places as explain all changes of a direction: a change lies after `good` and not after `bad`. */
    function places(card) {
        const found = [];
        ['slower', 'faster'].forEach(direction => {
            const changes = [];
            card.cells.forEach((cell, index) => cell.changes.forEach(change => {
                if ((change.after < change.before) === (direction === 'slower')) {
                    changes.push({cell: index, ...change});
                }
            }));
            changes.sort((a, b) => a.bad - b.bad);
            let place = null;
            changes.forEach(change => {
                if (!place || change.good >= place.bad) {
                    place = {direction: direction, good: change.good, bad: change.bad, changes: []};
                    found.push(place);
                }
                place.good = Math.max(place.good, change.good);
                place.changes.push(change);
            });
        });
        found.forEach(place => {
            place.changes.sort((a, b) => Math.abs(Math.log(b.after / b.before)) - Math.abs(Math.log(a.after / a.before)));
            const sum = place.changes.reduce((total, change) => total + Math.log(change.after / change.before), 0);
            place.ratio = Math.exp(sum / place.changes.length);
            place.on_mean = Math.exp(sum / card.cells.length);
        });
        return found.sort((a, b) => b.bad - a.bad || (a.direction === 'slower' ? -1 : 1));
    }

    page.figures = {
        METRICS: METRICS, time_s: time_s, limit_s: limit_s, best_until: best_until, bound: bound, series: series, mean_series: mean_series,
        binned: binned, last_known: last_known, places: places
    };
})(window.speedoflight);
