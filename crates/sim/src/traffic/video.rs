//! A video source: frames at a constant rate, of random sizes, each cut into packets. Key frames begin
//! each group of pictures and are larger.

use crate::random::Stream;
use crate::scenario::VideoSpec;
use crate::time::Time;

/// What leaves at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Packets of the frame that begins here, if one does.
    pub frame: Option<u32>,
    /// Bytes of a frame that leave.
    pub bytes: u32,
}

/// A video source at work.
#[derive(Clone, Debug)]
pub struct Video {
    spec: VideoSpec,
    payload_bytes: u32,
    sizes: Stream,
    begin: Time,
    /// Frames begun.
    frames: u64,
    /// Packets of the current frame.
    packets: u32,
    /// Of them, those sent by now, where they are spread.
    sent: u32,
    /// Bytes of the current frame that are not sent yet.
    left_bytes: u32,
}

impl Video {
    /// A source that cuts frames into packets of `payload_bytes`.
    #[must_use]
    pub fn new(spec: VideoSpec, payload_bytes: u32, sizes: Stream) -> Self {
        Self { spec, payload_bytes, sizes, begin: Time::ZERO, frames: 0, packets: 1, sent: 0, left_bytes: 0 }
    }

    /// The source starts at `now`, with a frame.
    pub fn start(&mut self, now: Time) {
        self.begin = now;
    }

    /// What leaves now: a frame, or, where packets are spread over the frame's interval, one packet.
    pub fn cut(&mut self) -> Cut {
        let begins = self.left_bytes == 0;
        if begins {
            self.left_bytes = self.frame_bytes();
            self.packets = self.left_bytes.div_ceil(self.payload_bytes);
            self.frames += 1;
            self.sent = 0;
        }
        self.sent += 1;
        let bytes = if self.spec.spread { self.left_bytes.min(self.payload_bytes) } else { self.left_bytes };
        self.left_bytes -= bytes;
        Cut { frame: begins.then_some(self.packets), bytes }
    }

    /// Seconds from `now`, when something left, until something leaves again.
    #[must_use]
    pub fn pause_s(&self, now: Time) -> f64 {
        let of_frame = if self.spec.spread { f64::from(self.sent) / f64::from(self.packets) } else { 1.0 };
        // Multiples of the interval, not a sum of it: frames keep their clock.
        let next = self.begin + ((self.frames - 1) as f64 + of_frame) * self.spec.interval_s;
        next.since(now).max(0.0)
    }

    /// Random numbers drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.sizes.draws()
    }

    fn frame_bytes(&mut self) -> u32 {
        const LARGEST: f64 = (1u32 << 30) as f64;
        let VideoSpec { frame_bytes, group_of_pictures, key_frame_ratio, variation, .. } = self.spec;
        let group = f64::from(group_of_pictures);
        // The mean over a group is the mean of the stream.
        let ordinary = frame_bytes * group / (key_frame_ratio + group - 1.0);
        let key = self.frames.is_multiple_of(u64::from(group_of_pictures));
        let mean = if key { ordinary * key_frame_ratio } else { ordinary };
        (self.sizes.log_normal(mean, variation) + 0.5).clamp(1.0, LARGEST) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn video(variation: f64, spread: bool) -> Video {
        let spec = VideoSpec {
            interval_s: 0.04,
            frame_bytes: 5000.0,
            group_of_pictures: 4,
            key_frame_ratio: 3.0,
            variation,
            spread,
        };
        Video::new(spec, 1000, Stream::new(1, "video", 0, "frames"))
    }

    #[test]
    fn a_group_of_pictures_has_one_larger_frame() {
        let mut video = video(0.0, false);
        let sizes: Vec<_> = (0..5).map(|_| video.cut().bytes).collect();
        assert_eq!(sizes, [10_000, 3333, 3333, 3333, 10_000]);
        // Six frames from the start, the next comes at 0.24 s.
        assert_eq!((video.cut().frame, video.pause_s(Time::new(0.2))), (Some(4), 6.0 * 0.04 - 0.2));
    }

    #[test]
    fn packets_can_be_spread_over_the_interval() {
        let mut video = video(0.0, true);
        let mut now = Time::ZERO;
        for packet in 0..10 {
            assert_eq!(video.cut(), Cut { frame: (packet == 0).then_some(10), bytes: 1000 });
            now = now + video.pause_s(now);
            assert!((now.seconds() - 0.004 * f64::from(packet + 1)).abs() < 1e-12);
        }
        assert_eq!(video.cut(), Cut { frame: Some(4), bytes: 1000 });
    }

    #[test]
    fn sizes_have_the_mean_and_the_variation_asked_for() {
        const FRAMES: u32 = 100_000;
        let mut video = video(0.3, false);
        let sizes: Vec<f64> = (0..FRAMES).map(|_| f64::from(video.cut().bytes)).collect();
        let mean = sizes.iter().sum::<f64>() / f64::from(FRAMES);
        assert!((mean / 5000.0 - 1.0).abs() < 0.01, "{mean}");
        let keys: Vec<f64> = sizes.iter().step_by(4).copied().collect();
        let key = keys.iter().sum::<f64>() / keys.len() as f64;
        let variance = keys.iter().map(|size| (size - key) * (size - key)).sum::<f64>() / keys.len() as f64;
        assert!((variance.sqrt() / key - 0.3).abs() < 0.01, "{key} {variance}");
    }
}
