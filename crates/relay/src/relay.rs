//! The loop: take what has come, forward what is due, wait for whichever is next. Never early; how late, is counted.

use tightlink_sim::network::processor::ProcessorSpec;
use tightlink_sim::time::Time;

use crate::RelayError;
use crate::direction::LinkTotals;
use crate::lateness::Lateness;
use crate::network::Network;
use crate::record::{Outcome, Sink};
use crate::spec::RelaySpec;
use crate::world::{Arrival, World};

/// Packets taken from a port before the other has its turn and what is due is forwarded.
const BATCH: usize = 8;
/// Between looks at what is due while a packet's cost is spent, in seconds.
const SLICE_S: f64 = 20e-6;

/// What a relay did.
#[derive(Debug)]
pub struct RelayOutcome {
    /// How long it worked.
    pub end: Time,
    /// What was between the ports.
    pub network: Network,
    /// What the links did.
    pub links: Vec<LinkTotals>,
    /// What was counted.
    pub counts: Counts,
}

/// What the loop counts.
#[derive(Debug)]
pub struct Counts {
    /// How much later than planned packets were forwarded.
    pub lateness: Lateness,
    /// Packets that the hosts did not take when they were due.
    pub refused: u64,
    /// How often there was no room for packets that might have come: they came later.
    pub full: u64,
    /// Packets whose cost was spent.
    pub burnt: u64,
    /// That cost, in seconds.
    pub burnt_s: f64,
}

/// Works until the end of the duration, or until it is told to end. The network is made before, as the time of the world
/// passes meanwhile.
///
/// # Errors
/// A port does not work, or the system does not let it wait.
pub fn run(
    spec: &RelaySpec,
    network: Network,
    world: &mut impl World,
    sink: &mut impl Sink,
) -> Result<RelayOutcome, RelayError> {
    let mut relay = Relay {
        end: spec.duration_s.map_or(Time::NEVER, Time::new),
        burn: spec.burnt().map(|router| &router.processor),
        network,
        counts: Counts { lateness: Lateness::new(spec.lateness_bound_s), refused: 0, full: 0, burnt: 0, burnt_s: 0.0 },
        paid_s: world.spent_s(),
        ports: spec.ports.len(),
        known: Time::ZERO,
        sink,
    };
    loop {
        let came = relay.receive(world)?;
        let now = relay.forward(world)?;
        if now >= relay.end {
            // What came before the end counts, even if it is only seen now.
            if came || relay.known < relay.end {
                continue;
            }
            break;
        }
        let next = relay.network.next_change().unwrap_or(Time::NEVER);
        if next > now {
            if !world.wait(next.min(relay.end))? {
                relay.end = world.now().min(relay.end);
            }
            if world.now().since(now) > SLICE_S {
                // Nobody pays for what it takes to be idle.
                relay.paid_s = world.spent_s();
            }
        }
    }
    let Relay { end, mut network, counts, sink, .. } = relay;
    let links = network.finish(end, sink);
    Ok(RelayOutcome { end, network, links, counts })
}

struct Relay<'a, S> {
    end: Time,
    burn: Option<&'a ProcessorSpec>,
    network: Network,
    counts: Counts,
    sink: &'a mut S,
    ports: usize,
    /// Up to here packets have paid for processor time.
    paid_s: f64,
    /// All that came before is known: up to here what depends on it may be decided.
    known: Time,
}

impl<S: Sink> Relay<'_, S> {
    /// Takes what has come. Whether any of it came before the end.
    fn receive(&mut self, world: &mut impl World) -> Result<bool, RelayError> {
        let mut came = false;
        // What a packet costs is spent before the next one is looked at: it waits in the device.
        let most = if self.burn.is_some() { 1 } else { BATCH };
        let before = world.now();
        let mut until = Time::NEVER;
        for port in 0..self.ports {
            let mut last = Time::ZERO;
            for taken in 0..=most {
                if taken == most {
                    // There may be more, which came later than this.
                    until = until.min(last);
                    break;
                }
                let Some(room) = self.network.room(port) else {
                    self.counts.full += 1;
                    break;
                };
                let Some(Arrival { length, mut at }) = world.receive(port, room)? else { break };
                if let Some(cost) = self.burn {
                    // The bytes stay where they are: nothing else is read before they are kept.
                    self.spend(cost.per_packet_s + cost.per_byte_s * length as f64, world)?;
                    at = world.now();
                }
                if at < self.end {
                    came = true;
                    self.network.arrive(port, at, length, self.sink);
                }
                last = at;
            }
        }
        self.network.admit(until.min(world.now()), self.sink);
        self.known = self.known.max(until.min(before));
        Ok(came)
    }

    /// Spends the processor time of a packet, of which reading it, and forwarding the one before, were a part; what
    /// becomes due meanwhile is forwarded.
    fn spend(&mut self, seconds: f64, world: &mut impl World) -> Result<(), RelayError> {
        let mut left_s = seconds - (world.spent_s() - self.paid_s);
        while left_s > 0.0 {
            world.work(left_s.min(SLICE_S));
            self.forward(world)?;
            left_s = seconds - (world.spent_s() - self.paid_s);
        }
        // What was spent beyond is the next packet's.
        self.paid_s += seconds;
        self.counts.burnt += 1;
        self.counts.burnt_s += seconds;
        Ok(())
    }

    /// Hands on what is due. The time is that after the last packet.
    fn forward(&mut self, world: &mut impl World) -> Result<Time, RelayError> {
        let mut now = world.now();
        // What happens at the end does not happen any more.
        let before_end = Time::new(self.end.seconds().next_down());
        self.network.advance(self.known.min(before_end), self.sink);
        self.network.clear(now.min(before_end), self.sink);
        for port in 0..self.ports {
            while let Some(due) = self.network.due(port, now.min(before_end)) {
                let taken = world.send(port, self.network.next(port))?;
                self.counts.lateness.note(now.since(due));
                self.counts.refused += u64::from(!taken);
                let outcome = if taken { Outcome::Delivered } else { Outcome::Refused };
                self.network.forward(port, outcome, now.seconds(), self.sink);
                now = world.now();
            }
        }
        Ok(now)
    }
}
