//! What must be read before the tables of a run are trusted.

use crate::congestion::{reads_marks, samples_delivery};
use crate::epochs::EpochSimulation;
use crate::hosts::Ends;
use crate::network::link::Link;
use crate::scenario::{Ecn, OutageTimes, Scenario, TransportSpec};
use crate::tables::Finished;

/// What is to be read of a run of flows.
#[must_use]
pub fn of_flows(run: &impl Finished) -> Vec<String> {
    let mut found = narrow(run);
    found.extend(unfinished(run));
    found.extend(unmarked(run));
    found.extend(late(run.scenario()));
    found
}

/// Outages that are written down for times after the end.
fn late(scenario: &Scenario) -> impl Iterator<Item = String> {
    let end_s = scenario.duration_s;
    // Both directions have the same.
    scenario.links.iter().filter(|link| !link.name.ends_with(".reverse")).filter_map(move |link| {
        let OutageTimes::Schedule { at_s, period_s: None, .. } = &link.outages.as_ref()?.times else { return None };
        let late = at_s.iter().filter(|&&at_s| at_s >= end_s).count();
        (late > 0).then(|| {
            format!("{late} of {} outages of {} begin after the end of the run, at {end_s} s", at_s.len(), link.name)
        })
    })
}

/// Groups to which congestion marks are not what they ask for.
fn unmarked(run: &impl Finished) -> Vec<String> {
    let scenario = run.scenario();
    let mut found = Vec::new();
    // Beyond the links are the processors of nodes.
    let marks = |stop: u32| scenario.links.get(stop as usize).is_some_and(|link| link.queue.marks());
    for (index, flow) in scenario.flows.iter().enumerate() {
        let TransportSpec::Tcp(tcp) = &flow.transport else { continue };
        let marked = || run.paths().each(index as u32, false).flatten().any(marks);
        let said = of_marks(&flow.group, &tcp.congestion.kind, tcp.ecn, marked);
        found.extend(said.filter(|said| !found.contains(said)));
    }
    found
}

/// What is to be read of a group whose control needs marks or takes no note of them, or that asks for them in vain.
fn of_marks(label: &str, control: &str, ecn: Ecn, marked: impl FnOnce() -> bool) -> Option<String> {
    let (reads, asks) = (reads_marks(control), ecn != Ecn::Off);
    if !reads && !asks {
        return None;
    }
    let which = "queues of kind dualpi2 and threshold mark, and those of other kinds that have ecn = true";
    match (marked(), reads) {
        (false, true) => Some(format!(
            "{control} of {label} reads congestion marks, and no queue on its way makes any: it answers losses alone; {which}"
        )),
        (false, false) => {
            Some(format!("tcp.ecn of {label} does nothing, as no queue on its way makes congestion marks; {which}"))
        }
        (true, false) if samples_delivery(control) => Some(format!(
            "{control} of {label} takes no note of congestion marks, and with tcp.ecn queues mark its packets instead of \
             dropping them: they tell it nothing until they are full"
        )),
        (true, _) => None,
    }
}

/// Open-loop transfers of which so many were not complete that the 99th percentile of all of them is not known.
fn unfinished(run: &impl Finished) -> impl Iterator<Item = String> {
    let is_open = |flow: &usize| match run.ends(*flow) {
        Ends::Tcp { receiver, connection, .. } => receiver.in_order() < connection.packets(),
        Ends::Udp { .. } => false,
    };
    run.scenario().transfers.iter().filter_map(move |group| {
        let (open, all) = (group.flows().filter(is_open).count(), group.count);
        (100 * open > all as usize).then(|| {
            format!(
                "{open} of {all} transfers of {} were not complete at the end: they are in no mean, and above every percentile; a longer \
                 duration, or an earlier stop, tells more",
                group.label
            )
        })
    })
}

/// Links whose queues have no room for a whole packet of traffic that takes them, not even where they are empty, so
/// that nothing got through: they are found by what was dropped.
fn narrow(run: &impl Finished) -> Vec<String> {
    let scenario = run.scenario();
    let mut narrow = Narrow::new(scenario, |link| run.delivered_and_refused(link).1 > 0);
    for (index, flow) in scenario.flows.iter().enumerate() {
        if narrow.left == 0 {
            break;
        }
        let size = match run.ends(index) {
            Ends::Tcp { connection, .. } => connection.full_size(),
            Ends::Udp { source, .. } => source.largest(),
        };
        run.paths().each(index as u32, false).flatten().for_each(|stop| narrow.check(stop, size, &flow.label));
    }
    narrow.found
}

/// The same of all traffic of a run epoch by epoch; of users and scattered datagrams, of all links that carried any.
#[must_use]
pub fn of_epochs(run: &EpochSimulation<'_>) -> Vec<String> {
    let scenario = run.scenario();
    let of_flows = of_flows(run);
    let dropped: Vec<bool> = run.links_at_work().map(|link| link.refused() > 0).collect();
    let mut narrow = Narrow::new(scenario, |link| dropped[link as usize]);
    let users = scenario.users.iter().map(|users| (&users.label, users.tcp.packet_bytes()));
    let sizes = |scatter: &crate::scenario::ScatterSpec| scatter.sizes.iter().map(|size| size.bytes).max();
    let scatter = scenario.scatter.iter().map(|scatter| (&scatter.label, sizes(scatter).unwrap_or_default()));
    for (label, size) in users.chain(scatter) {
        (0..scenario.links.len() as u32).for_each(|link| narrow.check(link, size, label));
    }
    let marks = scenario.links.iter().any(|link| link.queue.marks());
    let shares = scenario.users.iter().flat_map(|users| users.controls.iter().map(move |share| (users, share)));
    let unmarked =
        shares.filter_map(|(users, share)| of_marks(&users.label, &share.congestion.kind, users.tcp.ecn, || marks));
    of_flows.into_iter().chain(narrow.found).chain(unmarked).collect()
}

/// Queues that have no room for packets of some size.
struct Narrow<'a> {
    scenario: &'a Scenario,
    /// Which may, by link; those that are found are told once.
    suspects: Vec<bool>,
    left: usize,
    found: Vec<String>,
}

impl<'a> Narrow<'a> {
    fn new(scenario: &'a Scenario, dropped: impl Fn(u32) -> bool) -> Self {
        let links = 0..scenario.links.len() as u32;
        let suspects: Vec<bool> =
            links.map(|link| dropped(link) && !Link::idle(scenario, link).takes_alone(u32::from(u16::MAX))).collect();
        let left = suspects.iter().filter(|suspect| **suspect).count();
        Self { scenario, suspects, left, found: Vec::new() }
    }

    fn check(&mut self, link: u32, size: u32, label: &str) {
        let Some(suspect) = self.suspects.get_mut(link as usize).filter(|suspect| **suspect) else { return };
        if !Link::idle(self.scenario, link).takes_alone(size) {
            *suspect = false;
            self.left -= 1;
            let name = &self.scenario.links[link as usize].name;
            self.found
                .push(format!("the queue of link {name} has no room for a packet of {size} B, as {label} sends them"));
        }
    }
}
