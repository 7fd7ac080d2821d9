//! Send quanta: packets that Linux sends at once where it paces, as one of the interface's large segments (tcp_tso_autosize).

/// What it sends at once at least (tcp_min_tso_segs).
pub const PAIR: f64 = 2.0;
/// What is paced in so many seconds leaves at once, in segments of 1448 B (sk_pacing_shift) ...
const PACED_S: f64 = 1500.0 / (1024.0 * 1448.0);
/// ... and of a largest segment that half that halves with each 512 us of the round trip, in packets (tcp_tso_rtt_log) ...
const LARGEST: f64 = 65536.0 / 1448.0;
const HALVES_S: f64 = 512e-6;
/// Below this rate BBR sends packets one by one, in packets of 1500 B per second: 1.2 Mbit/s (bbr_min_tso_rate).
const PAIRS_FROM: f64 = 1.2e6 / (8.0 * 1500.0);

/// Packets that it sends at once at `rate` packets per second, over a path whose round trip takes at least `least_rtt_s`.
#[must_use]
pub fn autosized(rate: f64, least_rtt_s: f64) -> f64 {
    let near = LARGEST * libm::exp2(-libm::floor(least_rtt_s / HALVES_S));
    libm::floor((rate * PACED_S + near).min(LARGEST))
}

/// What BBR sends at once at least at `rate` packets per second (bbr_min_tso_segs).
#[must_use]
pub fn least_of_bbr(rate: f64) -> f64 {
    if rate < PAIRS_FROM { 1.0 } else { PAIR }
}
