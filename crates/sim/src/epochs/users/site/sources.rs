//! What sources hear and send: acknowledgements that come to them, and their senders at work.

use super::{Shared, Site};
use crate::epochs::users::outlet::Outlet;
use crate::epochs::users::source::State;
use crate::events::Key;
use crate::packet::{Address, Packet};
use crate::scenario::Profile;
use crate::time::Time;
use crate::transport::sender::{Env, Sender};

impl Site {
    /// The router passes on an ACK to a source: it crosses the interface.
    pub(super) fn take_ack(&mut self, now: Key, packet: Packet, shared: &mut Shared<'_>) {
        let local = (packet.source() - self.first_source) as usize;
        let key = self.hosts.cross(&self.group, now, packet.size(), local);
        if key.time >= self.looks.end {
            return;
        }
        self.hosts.crossed += 1;
        let source = &mut self.sources[local];
        let until = source.alarm.min(self.transfers[local].sender.reacts_until()).min(self.next_look);
        if source.put_off == 0 && key.time < until {
            self.receive_ack(key, packet, shared);
        } else {
            source.put_off += 1;
            self.hosts.turns(shared.calendar).put_off(key, packet);
        }
    }

    /// An ACK has reached its source.
    pub(super) fn receive_ack(&mut self, now: Key, packet: Packet, shared: &mut Shared<'_>) {
        let local = (packet.source() - self.first_source) as usize;
        if packet.transfer() != self.sources[local].transfer || self.sources[local].state == State::Thinking {
            if let Some(handle) = packet.options() {
                shared.ack_options.discard(handle);
            }
            return;
        }
        let opened;
        let (blocks, echo) = match packet.options() {
            None => (&[][..], packet.sent()),
            Some(handle) => {
                opened = shared.ack_options.take(handle);
                self.transfers[local].sender.read_options(&opened, now.time);
                (opened.blocks.as_slice(), opened.echo)
            }
        };
        let (acked, window) = (self.transfers[local].sender.acked, self.transfers[local].sender.window.cwnd);
        let ack = packet.unaddressed().seq().min(self.transfers[local].sender.highest.max(0) as u32);
        self.with_sender(local, now, (echo, packet.ace()), shared, |sender, env| sender.receive(env, ack, blocks));
        let (transfer, source, counts) = (&mut self.transfers[local], &mut self.sources[local], &mut self.counts);
        let sender = &transfer.sender;
        if ack as i32 > acked {
            counts.increases += u64::from(sender.window.cwnd > window);
            let rtt_s = now.time.since(echo);
            // The SYN is small: its round trip tells nothing of those of data.
            if acked >= 0 {
                counts.rtt_ns += (rtt_s * 1e9).round() as u64;
                counts.queueing_ns += ((rtt_s - transfer.round_trip_s).max(0.0) * 1e9).round() as u64;
                counts.rtt_samples += 1;
            }
        } else {
            counts.duplicates += 1;
        }
        if source.state == State::Connecting && sender.acked >= 0 {
            source.state = State::Sending;
            self.sending += 1;
            transfer.began = now.time;
        }
        if sender.acked >= source.packets as i32 {
            self.complete(local, now, shared);
        }
    }

    /// Has a sender act, and counts what it sends.
    pub(super) fn with_sender(
        &mut self,
        local: usize,
        now: Key,
        (echo, told): (Time, u8),
        shared: &mut Shared<'_>,
        act: impl FnOnce(&mut Sender, &mut Env<'_, Outlet<'_, '_>>),
    ) {
        let (group, source, sender) = (&*self.group, &self.sources[local], &mut self.transfers[local].sender);
        let before = (sender.totals.packets_sent, sender.totals.packets_retransmitted, sender.totals.timeouts);
        let connected = sender.acked >= 0;
        let destination = group.first_destination + source.target;
        let there = Address { destination, transfer: source.transfer, last: false };
        let mut outlet = self.hosts.outlet(group, local, (there, source.packets), shared);
        let (controls, connection) = (&mut self.controls, &group.connection);
        act(sender, &mut Env { network: &mut outlet, controls, connection, now, echo, told });
        let totals = &sender.totals;
        // Not the SYN, nor the third step of the handshake, which ns-2 leaves out.
        let bare = u64::from(sender.acked >= 0 && !connected && connection.profile != Profile::Ns2);
        if sender.acked >= 0 {
            self.counts.sent += totals.packets_sent - before.0 - bare;
            self.counts.retransmitted += totals.packets_retransmitted - before.1;
            self.counts.timeouts += totals.timeouts - before.2;
        }
    }
}
