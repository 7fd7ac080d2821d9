//! A sender that paces, and whose congestion control may ask how fast packets are delivered.

use super::{Env, Sender};
use crate::congestion::{Controls, RateSample};
use crate::events::{Entity, Key};
use crate::random::Stream;
use crate::scenario::Profile;
use crate::time::Time;
use crate::transport::accounting::Limit;
use crate::transport::connection::Connection;
use crate::transport::delivery_rate::{Deliveries, Delivery};
use crate::transport::network::Network;
use crate::transport::pacing::{Paced, Pacer, Processing};
use crate::transport::timer::{PACING, RETRANSMISSION};

/// The first packets of a connection, after which Linux does not wait: its handshake's two, and nine with data
/// (tcp_update_skb_after_send).
const UNPACED: u64 = 11;
/// The share of an interval that Linux makes up for, where a packet leaves late.
const MADE_UP: f64 = 0.5;

impl Sender {
    /// Paces from now on, by the timer `entity`; with `random` the congestion control is told how fast packets are
    /// delivered, and draws its random numbers from there.
    pub fn pace(&mut self, entity: Entity, random: Option<Stream>) {
        let deliveries = random.map(|random| Deliveries::new(random, self.rack.is_none()));
        if let (Some(_), Some(window_use)) = (&deliveries, &mut self.window_use) {
            window_use.keep_window();
        }
        self.paced = Some(Box::new(Paced { pacer: Pacer::new(entity), at_a_rate: true, deliveries }));
        self.tell_pacing();
    }

    /// Slow start may depend on whether it paces.
    fn tell_pacing(&mut self) {
        if let Some(slow_start) = &mut self.slow_start {
            slow_start.pace();
        }
    }

    /// Paces from now on if its congestion control has come to ask for it, as one outside of the engine may.
    #[cold]
    pub(super) fn pace_if_asked<N>(&mut self, env: &Env<'_, N>) {
        if env.controls.is_paced(self.control) {
            self.wait_by(self.timer_entity - RETRANSMISSION + PACING).at_a_rate = true;
            self.tell_pacing();
        }
    }

    /// Takes up to `longest_s` seconds before it sends what it may, by the timer `entity`, which paces if it does.
    pub fn take_time(&mut self, entity: Entity, longest_s: f64, random: Stream) {
        self.wait_by(entity).pacer.processing = Some(Box::new(Processing::new(longest_s, random)));
    }

    /// Waits by the timer `entity`, if it does not yet.
    fn wait_by(&mut self, entity: Entity) -> &mut Paced {
        let unpaced = || Box::new(Paced { pacer: Pacer::new(entity), at_a_rate: false, deliveries: None });
        self.paced.get_or_insert_with(unpaced)
    }

    /// Whether its congestion control is told how fast packets are delivered.
    #[must_use]
    pub(in crate::transport) fn samples_delivery(&self) -> bool {
        self.paced.as_ref().is_some_and(|paced| paced.deliveries.is_some())
    }

    /// The pacing timer's event came.
    pub fn pacing_timer<N: Network>(&mut self, env: &mut Env<'_, N>) {
        if self.paced.as_mut().is_some_and(|paced| paced.pacer.expires(env.network, env.now)) {
            self.resume(env);
        }
    }

    /// An ACK is known before it arrives at `key`: when the next packet is due, if that is before. It is for the caller to
    /// resume then.
    #[inline]
    pub fn is_due_before(&mut self, key: Key) -> Option<Key> {
        self.paced.as_mut()?.pacer.expires_before(key)
    }

    /// Whether the next packet is not due yet; the timer resumes.
    #[cold]
    pub(in crate::transport) fn is_early<N: Network>(&mut self, env: &mut Env<'_, N>) -> bool {
        let Some(paced) = &mut self.paced else { return false };
        let early = paced.pacer.holds_back(env.network, env.now);
        // The time that a host takes passes under whatever limited it before.
        if early && paced.at_a_rate {
            self.note(env, Limit::Pacing);
        }
        early
    }

    /// Packet `seq` leaves now.
    #[cold]
    pub(super) fn note_paced<N: Network>(&mut self, env: &mut Env<'_, N>, seq: i32) {
        let Some(paced) = &mut self.paced else { return };
        if let Some(deliveries) = &mut paced.deliveries {
            if deliveries.is_restart() {
                env.controls.on_restart(self.control, &mut self.window, env.now.time, deliveries.losses().1);
            }
            deliveries.note_sent(seq, env.now.time);
        }
        // Nothing is known before the first round trip: no pacing.
        if let Some(rate) = self.pacing_rate(env.controls, env.connection) {
            let packets = f64::from(env.connection.size(seq)) / f64::from(env.connection.full_size());
            let linux = env.connection.profile == Profile::Linux;
            if linux && self.totals.packets_sent <= UNPACED && !self.spreads_first_window() {
                return;
            }
            if let Some(paced) = &mut self.paced {
                let made_up = if linux { MADE_UP } else { 0.0 };
                paced.pacer.note_sent(env.network, env.now, packets / rate, made_up);
            }
        }
    }

    fn spreads_first_window(&self) -> bool {
        self.slow_start.as_ref().is_some_and(|slow_start| slow_start.spreads_first_window())
    }

    /// The rate in packets per second at which it paces, once a round-trip time is known.
    #[must_use]
    pub fn pacing_rate(&self, controls: &Controls, connection: &Connection) -> Option<f64> {
        self.paced.as_ref().filter(|paced| paced.at_a_rate)?;
        let srtt_s = self.srtt_s(connection)?;
        if self.acked == 0 && self.spreads_first_window() {
            return Some(self.window.cwnd / srtt_s);
        }
        Some(controls.pacing_rate(self.control, &self.window, self.in_flight(), srtt_s))
    }

    /// The SYN was acknowledged: its round trip counts, though it is no sample of the rate. What a control is told of it.
    #[cold]
    pub(super) fn note_handshake(&mut self, rtt_s: f64) -> f64 {
        let deliveries = self.paced.as_mut().and_then(|paced| paced.deliveries.as_mut());
        deliveries.map_or(rtt_s, |deliveries| deliveries.note_handshake(rtt_s))
    }

    /// An ACK arrived: the congestion control is told what it says of the rate.
    #[cold]
    pub(super) fn take_sample<N: Network>(&mut self, env: &mut Env<'_, N>, ack: i32, blocks: &[(u32, u32)]) {
        if let Some(delivery) = self.take_delivery(env.now.time, ack, blocks) {
            self.give_sample(env, delivery);
        }
    }

    /// An ACK arrived: what it delivers, for a congestion control that is told.
    #[cold]
    pub(in crate::transport) fn take_delivery(
        &mut self,
        now: Time,
        ack: i32,
        blocks: &[(u32, u32)],
    ) -> Option<Delivery> {
        self.paced.as_mut()?.deliveries.as_mut()?.acknowledge(now, ack, blocks)
    }

    /// Tells the congestion control of a delivery, and of the losses that were found by now.
    #[cold]
    pub(in crate::transport) fn give_sample<N: Network>(&mut self, env: &mut Env<'_, N>, delivery: Delivery) {
        let Some(Paced { pacer, deliveries: Some(deliveries), .. }) = self.paced.as_deref_mut() else { return };
        let sample = deliveries.sample(delivery, self.recovering || self.timed_out);
        let sample = RateSample { due_in_s: pacer.due_in_s(env.now.time), ..sample };
        let (losses, random) = deliveries.losses();
        let holds_back = env.controls.on_sample(self.control, &mut self.window, &sample, losses, random);
        deliveries.forget_losses();
        if holds_back {
            deliveries.mark_app_limited();
        }
    }

    /// The application has nothing more to send: if the window would let it, what is in flight tells little.
    #[cold]
    pub(super) fn note_app_limited(&mut self) {
        let cwnd = self.window.cwnd;
        if let Some(deliveries) = self.paced.as_mut().and_then(|paced| paced.deliveries.as_mut())
            && f64::from(deliveries.in_flight()) < cwnd
        {
            deliveries.mark_app_limited();
        }
    }

    /// The retransmission timer expired.
    pub(super) fn note_all_lost(&mut self) {
        if let Some(deliveries) = self.paced.as_mut().and_then(|paced| paced.deliveries.as_mut()) {
            deliveries.lose_all();
        }
    }

    /// RACK found losses: the congestion control is told with the next sample.
    pub(in crate::transport) fn note_lost(&mut self, lost: &[i32]) {
        if let Some(deliveries) = self.paced.as_mut().and_then(|paced| paced.deliveries.as_mut()) {
            lost.iter().for_each(|&seq| deliveries.lose(seq));
        }
    }

    /// Random numbers that were drawn for its congestion control and for the time that its host takes.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.paced.as_ref().map_or(0, |paced| {
            let processing = paced.pacer.processing.as_ref().map_or(0, |processing| processing.random_draws());
            processing + paced.deliveries.as_ref().map_or(0, Deliveries::random_draws)
        })
    }
}
