//! Lines over time: the time series of a run, and what it has of flows beyond them, column by column.

use serde_json::{Value, json};
use tightlink_sim::Scenario;
use tightlink_sim::probe::{FlowLook, Probe};
use tightlink_sim::tables::{Column, Table};
use tightlink_sim::transport::accounting::{LIMITED_BY, LIMITS};

/// What was seen of a flow, sample by sample: seconds under each limit, and packets with marks.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    spent: Vec<[f64; LIMITS]>,
    marked: Vec<u64>,
}

/// Keeps every look at every flow. What holds back a source that waits for its link depends on that, so that links are not
/// evaluated `AHEAD` where there is one.
#[derive(Debug)]
pub struct Looks<'a, const AHEAD: bool>(pub &'a mut Vec<Seen>);

impl<const AHEAD: bool> Probe for Looks<'_, AHEAD> {
    const ALLOWS_FUSION: bool = AHEAD;
    const SEES_PACKETS: bool = false;
    const LOOKS: bool = true;

    fn looked(&mut self, flow: u32, look: FlowLook) {
        let seen = &mut self.0[flow as usize];
        match look {
            FlowLook::Sender(spent) => seen.spent.push(spent),
            FlowLook::Receiver(marked) => seen.marked.push(marked),
        }
    }
}

/// The lines of a run: one list of numbers, and what is where in it.
#[derive(Debug, Default)]
pub struct Lines {
    /// All samples: first the times, then each line.
    pub data: Vec<f64>,
    /// Of each line its `entity`, whether that is a `flow`, its `metric`, and where it begins.
    pub index: Vec<Value>,
    /// How many samples each has.
    pub samples: usize,
}

impl Lines {
    /// The lines of a run by its table of series and the looks at its flows.
    pub fn new(scenario: &Scenario, series: &Table, looks: &[Seen]) -> Self {
        let (Some(Column::Float(times)), Some(Column::Float(values))) =
            (column(series, "time_s"), column(series, "value"))
        else {
            return Self::default();
        };
        let (Some(Column::Category(entity, names)), Some(Column::Category(metric, metrics))) =
            (column(series, "entity"), column(series, "metric"))
        else {
            return Self::default();
        };
        let mut lines = Self::default();
        let mut when: Vec<f64> = times.clone();
        when.dedup();
        lines.samples = when.len();
        lines.data.extend(&when);
        // A place for each entity and metric: of some there are hundreds of thousands of samples.
        let mut begins = vec![usize::MAX; names.len() * metrics.len()];
        let (mut sample, mut now) = (0, times.first().copied().unwrap_or_default());
        let flows = scenario.links.len()..scenario.links.len() + scenario.single_flows();
        for (row, &time) in times.iter().enumerate() {
            if time.to_bits() != now.to_bits() {
                (sample, now) = (sample + 1, time);
            }
            let (of, what) = (entity[row], metric[row]);
            let begin = &mut begins[of as usize * metrics.len() + what as usize];
            if *begin == usize::MAX {
                *begin = lines.add(&names[of as usize], flows.contains(&(of as usize)), &metrics[what as usize]);
            }
            lines.data[*begin + sample] = values[row];
        }
        lines.add_looks(scenario, looks);
        lines
    }

    /// A line without samples; where it begins.
    fn add(&mut self, entity: &str, is_flow: bool, metric: &str) -> usize {
        let begin = self.data.len();
        self.data.resize(begin + self.samples, f64::NAN);
        self.index.push(json!({ "entity": entity, "flow": is_flow, "metric": metric, "begin": begin }));
        begin
    }

    /// Adds seconds under each limit, and marks, in each interval.
    fn add_looks(&mut self, scenario: &Scenario, looks: &[Seen]) {
        for (flow, Seen { spent, marked }) in scenario.flows.iter().zip(looks) {
            let spent = settled(spent);
            for (limit, name) in LIMITED_BY.iter().enumerate() {
                if spent.last().is_some_and(|spent| spent[limit] > 0.0) {
                    self.differences(&flow.label, name, spent.iter().map(|spent| spent[limit]));
                }
            }
            if marked.last().is_some_and(|&marked| marked > 0) {
                self.differences(&flow.label, "packets_marked", marked.iter().map(|&marked| marked as f64));
            }
        }
    }

    fn differences(&mut self, entity: &str, metric: &str, totals: impl Iterator<Item = f64>) {
        let begin = self.add(entity, true, metric);
        let mut before = 0.0;
        for (sample, total) in totals.enumerate().take(self.samples) {
            self.data[begin + sample] = (total - before).max(0.0);
            before = total;
        }
    }
}

/// Seconds under each limit as they were booked in the end. What a round is limited by is known when it ends, and until
/// then taken for the limit of the one before: what is taken back later belongs to what grows instead.
fn settled(spent: &[[f64; LIMITS]]) -> Vec<[f64; LIMITS]> {
    let mut settled = spent.to_vec();
    for at in (0..settled.len().saturating_sub(1)).rev() {
        let (now, later) = (settled[at], settled[at + 1]);
        let kept: [f64; LIMITS] = std::array::from_fn(|limit| now[limit].min(later[limit]));
        let room: [f64; LIMITS] = std::array::from_fn(|limit| later[limit] - kept[limit]);
        let [total, kept_s, room_s] = [now, kept, room].map(|seconds| seconds.iter().sum::<f64>());
        let share = if room_s > 0.0 { ((total - kept_s) / room_s).min(1.0) } else { 0.0 };
        settled[at] = std::array::from_fn(|limit| kept[limit] + share * room[limit]);
    }
    settled
}

fn column<'a>(table: &'a Table, name: &str) -> Option<&'a Column> {
    table.columns.iter().find(|(known, _)| *known == name).map(|(_, column)| column)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three seconds at the congestion window are a full network's when the round ends; it is known so from then on.
    #[test]
    fn what_is_booked_later_is_drawn_where_it_was() {
        let looks = [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [0.5, 3.5], [0.5, 4.5]].map(|[window, network]| {
            let mut look = [0.0; LIMITS];
            (look[0], look[1]) = (network, window);
            look
        });
        let windows: Vec<f64> = settled(&looks).iter().map(|seconds| seconds[1]).collect();
        assert_eq!(windows, [0.5, 0.5, 0.5, 0.5, 0.5]);
        for (before, after) in looks.iter().zip(settled(&looks)) {
            assert!((before.iter().sum::<f64>() - after.iter().sum::<f64>()).abs() < 1e-12);
        }
    }
}
