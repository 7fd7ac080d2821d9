//! The life of a transfer: it begins, is completed or given up, and its source thinks again.

use std::sync::Arc;

use super::{Shared, Site};
use crate::epochs::users::counts::{Kind, Transfers};
use crate::epochs::users::outlet::Calendar;
use crate::epochs::users::source::{State, Transfer};
use crate::events::Key;
use crate::packet::Address;
use crate::time::Time;
use crate::transport::network::Schedule as _;
use crate::transport::timer::{APPLICATION, PACING};

impl Site {
    /// A source has thought enough, or has no more patience.
    pub(super) fn alarm(&mut self, local: usize, now: Key, shared: &mut Shared<'_>) {
        if self.sources[local].alarm != now.time {
            return;
        }
        if self.sources[local].state == State::Thinking {
            self.begin_transfer(local, now, shared);
        } else {
            self.counts.abandoned += 1;
            self.think(local, now, shared.calendar);
        }
    }

    pub(super) fn begin_transfer(&mut self, local: usize, now: Key, shared: &mut Shared<'_>) {
        let group = Arc::clone(&self.group);
        let number = self.first_source + local as u32;
        let source = &mut self.sources[local];
        let (target, kind) = match group.long_lived(self.index, number) {
            Some(flow) => {
                let flow = &group.spec.long_lived[flow as usize];
                (source.packets, source.file) = (Address::SEQUENCE - 2, u8::MAX);
                (flow.to as u16, Some(flow.interface as u8))
            }
            None => {
                (source.file, source.packets) = group.choose_file(now.time.seconds(), self.index, &mut source.stream);
                (group.choose_site(self.index, &mut source.stream), None)
            }
        };
        source.target = target;
        source.path = group.path(self.index, target);
        source.state = State::Connecting;
        let own = self.hosts.kind(local);
        let other =
            kind.unwrap_or_else(|| group.interface(target, true, group.receiver(target, number, source.transfer)));
        source.interface = if group.is_slower(own, other) { own } else { other };
        self.transfers[local].round_trip_s = group.round_trip_s((self.index, own), (target, other));
        source.alarm = match &group.spec.patience {
            Some(patience) if kind.is_none() => {
                now.time + (patience.least_s + f64::from(source.packets) / patience.packets_per_s)
            }
            _ => Time::NEVER,
        };
        let (alarm, control, packets) = (source.alarm, source.control, source.packets as i32);
        let handle = self.transfers[local].sender.control();
        self.controls.renew(handle, self.fresh[control as usize]);
        self.transfers[local].sender = self.sender(number, handle);
        let samples = self.controls.samples_delivery(handle);
        if self.controls.is_paced(handle) || group.spec.tcp.paces() {
            let random = samples.then(|| self.sources[local].stream.branch());
            self.transfers[local].sender.pace(group.timer_entity(number, PACING), random);
        }
        if let Some(longest_s) = group.spec.tcp.processing_delay_s {
            let random = self.sources[local].stream.branch();
            self.transfers[local].sender.take_time(group.timer_entity(number, PACING), longest_s, random);
        }
        self.set_alarm(local, alarm, now, shared.calendar);
        self.with_sender(local, now, (Time::ZERO, 0), shared, |sender, env| sender.begin(env, packets));
    }

    /// All of a file is acknowledged.
    pub(super) fn complete(&mut self, local: usize, now: Key, shared: &mut Shared<'_>) {
        let (source, &Transfer { ref sender, began, .. }) = (&self.sources[local], &self.transfers[local]);
        let seconds = now.time.since(began);
        let periods = &self.looks.periods;
        let period = periods.iter().position(|period| (period.start_s..period.stop_s).contains(&now.time.seconds()));
        let kind = Kind {
            period: period.unwrap_or(periods.len()) as u8,
            file: source.file,
            path: source.path,
            interface: source.interface,
            control: source.control,
        };
        if source.file != u8::MAX {
            *shared.by_kind.entry(kind).or_default() += Transfers {
                completed: 1,
                packets: u64::from(source.packets),
                ns: (seconds * 1e9).round() as u64,
                rate_mpps: (f64::from(source.packets) / seconds * 1e3).round() as u64,
                retransmitted: sender.totals.packets_retransmitted,
            };
            self.counts.completed += 1;
        }
        self.think(local, now, shared.calendar);
    }

    /// The transfer of a source is over, one way or the other.
    pub(super) fn think(&mut self, local: usize, now: Key, calendar: &mut Calendar) {
        let long_lived = local >= self.sources.len() - self.long_lived.len();
        let source = &mut self.sources[local];
        source.next_transfer();
        self.sending -= u32::from(source.state == State::Sending);
        source.state = State::Thinking;
        let alarm = now.time + if long_lived { 0.0 } else { source.stream.duration(self.group.spec.think) };
        source.alarm = alarm;
        self.set_alarm(local, alarm, now, calendar);
    }

    pub(super) fn set_alarm(&mut self, local: usize, alarm: Time, now: Key, calendar: &mut Calendar) {
        if alarm < Time::NEVER {
            let entity = self.group.timer_entity(self.first_source + local as u32, APPLICATION);
            let alarm = Key::new(alarm, now.time, now.precedence_of_effects(), entity);
            self.hosts.turns(calendar).schedule(alarm);
        }
    }
}
