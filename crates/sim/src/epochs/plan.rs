//! How long epochs may be, and in which order links and other stops are processed in each.
//!
//! What leaves a stop may reach the next one within the same epoch, unless there is a delay between them of at
//! least an epoch. In an epoch each stop is processed once, so those that are not apart by such a delay must
//! come in the order of traffic, which must have no cycles. The longest epochs with that property are the best:
//! work on one link comes in large portions then.

/// A link, a processor, a site with the hosts behind it, or a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// By its number.
    Link(u32),
    /// By its number.
    Processor(u32),
    /// By its number.
    Site(u32),
    /// A host of flows, by its number.
    Host(u32),
}

const SOME_EDGES: usize = 1 << 20;

/// What may follow what on a path, and after how many seconds at least.
#[derive(Clone, Debug, Default)]
pub struct Successions {
    /// The numbers of the first link, processor, site and host, and behind the last.
    firsts: [u32; 5],
    /// From what to what, and the bits of the delay; those of a router with many links are many.
    edges: Vec<(u32, u32, u64)>,
    /// When there are so many, those that are there several times are removed.
    tidy_at: usize,
}

impl Successions {
    /// None yet, among so many links, processors, sites and hosts.
    #[must_use]
    pub fn new(counts: [usize; 4]) -> Self {
        let mut firsts = [0; 5];
        for (kind, count) in counts.into_iter().enumerate() {
            firsts[kind + 1] = firsts[kind] + count as u32;
        }
        Self { firsts, edges: Vec::new(), tidy_at: SOME_EDGES }
    }

    fn number(&self, stop: Stop) -> u32 {
        match stop {
            Stop::Link(link) => link,
            Stop::Processor(processor) => self.firsts[1] + processor,
            Stop::Site(site) => self.firsts[2] + site,
            Stop::Host(host) => self.firsts[3] + host,
        }
    }

    fn tidy(&mut self) {
        self.edges.sort_unstable();
        self.edges.dedup();
        self.tidy_at = SOME_EDGES + 2 * self.edges.len();
    }

    /// After `from` may come `to`, `delay_s` seconds later or more.
    pub fn add(&mut self, from: Stop, to: Stop, delay_s: f64) {
        self.edges.push((self.number(from), self.number(to), (delay_s + 0.0).to_bits()));
        if self.edges.len() >= self.tidy_at {
            self.tidy();
        }
    }

    /// The longest epochs, at most `longest_s` seconds long, with an order of stops; nothing where traffic may go in
    /// a circle without any delay.
    #[must_use]
    pub fn plan(&mut self, longest_s: f64) -> Option<Plan> {
        self.tidy();
        let delays = self.edges.iter().map(|edge| f64::from_bits(edge.2)).filter(|&delay| 0.0 < delay);
        let mut lengths: Vec<f64> = delays.filter(|&delay| delay < longest_s).chain([longest_s]).collect();
        lengths.sort_unstable_by(f64::total_cmp);
        lengths.dedup();
        // The longer the epochs, the fewer delays keep stops apart.
        let feasible = lengths.partition_point(|&length| self.order(length).is_some());
        let epoch_s = *lengths.get(feasible.checked_sub(1)?)?;
        Some(Plan { epoch_s, order: self.order(epoch_s)? })
    }

    /// An order of all stops in which those come first after which others may come less than `epoch_s` later.
    fn order(&self, epoch_s: f64) -> Option<Vec<Stop>> {
        let count = self.firsts[4] as usize;
        let mut followers = vec![Vec::new(); count];
        let mut before = vec![0_u32; count];
        for &(from, to, delay) in &self.edges {
            if f64::from_bits(delay) < epoch_s {
                followers[from as usize].push(to as usize);
                before[to as usize] += 1;
            }
        }
        let mut order: Vec<usize> = (0..count).filter(|&stop| before[stop] == 0).collect();
        let mut done = 0;
        while let Some(&stop) = order.get(done) {
            done += 1;
            for &next in &followers[stop] {
                before[next] -= 1;
                if before[next] == 0 {
                    order.push(next);
                }
            }
        }
        (order.len() == count).then(|| order.into_iter().map(|stop| self.stop(stop as u32)).collect())
    }

    fn stop(&self, number: u32) -> Stop {
        let kinds = [Stop::Link, Stop::Processor, Stop::Site, Stop::Host];
        let kind = self.firsts[1..kinds.len()].partition_point(|&first| first <= number);
        kinds[kind](number - self.firsts[kind])
    }
}

/// How a network is processed.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Length of the epochs, in seconds.
    pub epoch_s: f64,
    /// The order within each.
    pub order: Vec<Stop>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_cut_where_its_delay_is_longest() {
        let mut successions = Successions::new([2, 0, 1, 0]);
        let [first, second, site] = [Stop::Link(0), Stop::Link(1), Stop::Site(0)];
        successions.add(first, second, 0.002);
        successions.add(second, site, 0.005);
        successions.add(site, first, 0.0);
        let plan = successions.plan(1.0).unwrap();
        assert_eq!((plan.epoch_s, plan.order), (0.005, vec![site, first, second]));
        assert_eq!(successions.plan(0.001).unwrap().epoch_s, 0.001);
    }

    #[test]
    fn without_a_circle_epochs_are_as_long_as_allowed() {
        let mut successions = Successions::new([2, 0, 0, 0]);
        successions.add(Stop::Link(1), Stop::Link(0), 0.0);
        assert_eq!(successions.plan(3.0).unwrap(), Plan { epoch_s: 3.0, order: vec![Stop::Link(1), Stop::Link(0)] });
    }

    #[test]
    fn a_circle_without_delay_has_no_epochs() {
        let mut successions = Successions::new([2, 0, 0, 0]);
        successions.add(Stop::Link(0), Stop::Link(1), 0.0);
        successions.add(Stop::Link(1), Stop::Link(0), 0.0);
        assert_eq!(successions.plan(3.0), None);
    }
}
