//! A run by the loop over events, whose totals are asked for.

use std::borrow::Cow;

use super::Simulation;
use crate::hosts::Ends;
use crate::network::link::LongerByPosition;
use crate::network::node::Node;
use crate::network::topology::Paths;
use crate::probe::Probe;
use crate::probe::series::Series;
use crate::scenario::Scenario;
use crate::tables::{Finished, LinkRow};
use crate::time::Time;

impl<P: Probe> Finished for Simulation<'_, P> {
    fn scenario(&self) -> &Scenario {
        self.scenario
    }

    fn until(&self) -> Time {
        self.reached()
    }

    fn paths(&self) -> &Paths {
        &self.fabric.paths
    }

    fn ends(&self, flow: usize) -> Ends<'_> {
        self.hosts.ends(flow)
    }

    fn dropped(&self, flow: usize) -> u64 {
        self.fabric.dropped[flow]
    }

    fn link(&self, link: u32) -> LinkRow {
        let of = &self.fabric.links[link as usize];
        (of.until(self.reached(), self.fabric.totals(link)), of.packets_lost(), self.fabric.queueing(link))
    }

    fn longer(&self, link: u32) -> Option<&LongerByPosition> {
        self.fabric.links[link as usize].longer()
    }

    fn delivered_and_refused(&self, link: u32) -> (u64, u64) {
        (self.fabric.links[link as usize].packets_delivered(), self.fabric.refused(link))
    }

    fn busy_throughout(&self, link: u32, since: Time, until: Time) -> bool {
        self.fabric.busy_throughout(link, since, until)
    }

    fn processors(&self) -> impl Iterator<Item = &Node> {
        self.fabric.nodes.list.iter()
    }

    fn series(&self) -> Option<Cow<'_, Series>> {
        let samples = self.fabric.samples.as_ref()?;
        Some(Cow::Borrowed(&samples.series))
    }
}
