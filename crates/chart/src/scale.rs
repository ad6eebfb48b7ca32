//! The position of a value on an axis.

use crate::Axis;

/// An axis with its ends.
pub(crate) struct Scale {
    least: f64,
    most: f64,
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Scale {
    /// The scale that maps all values of an axis between two coordinates. A linear scale begins at zero if
    /// `from_zero` says so. Values that are not above zero are placed at the beginning of a logarithmic scale.
    pub(crate) fn of(
        axis: &Axis,
        values: impl Iterator<Item = f64>,
        (from, to): (f64, f64),
        from_zero: bool,
    ) -> Self {
        let shown = values.filter(|value| value.is_finite() && (!axis.logarithmic || *value > 0.0));
        let ends = shown.fold(None, |ends: Option<(f64, f64)>, value| {
            let (least, most) = ends.unwrap_or((value, value));
            Some((least.min(value), most.max(value)))
        });
        let (least, most) = match ends {
            None => (1.0, 10.0),
            Some((least, most)) if axis.logarithmic => {
                let (low, high) = (least.log10().floor(), most.log10().ceil());
                (10_f64.powf(low), 10_f64.powf(high.max(low + 1.0)))
            }
            Some((_, most)) if from_zero => (0.0, (most * 1.15).max(1.0)),
            Some((least, most)) => (least, most.max(least + 1.0)),
        };
        Self {
            least,
            most,
            from,
            to,
            logarithmic: axis.logarithmic,
        }
    }

    /// The coordinate of a value.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value.max(self.least) / self.least).log10() / (self.most / self.least).log10()
        } else {
            (value - self.least) / (self.most - self.least)
        };
        self.from + share * (self.to - self.from)
    }

    /// The values that label the axis.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        let mut ticks = Vec::new();
        if self.logarithmic {
            let mut tick = self.least;
            while tick <= self.most * 1.001 {
                ticks.push(tick);
                tick *= 10.0;
            }
            return ticks;
        }
        let rough = (self.most - self.least) / 4.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|times| times * power)
            .into_iter()
            .find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        let mut tick = (self.least / step).ceil() * step;
        while tick <= self.most {
            ticks.push(tick);
            tick += step;
        }
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(logarithmic: bool, values: &[f64], from_zero: bool) -> Scale {
        let axis = Axis {
            label: String::new(),
            logarithmic,
            write: |value| value.to_string(),
        };
        Scale::of(&axis, values.iter().copied(), (0.0, 100.0), from_zero)
    }

    #[test]
    fn the_ends_of_a_logarithmic_scale_are_powers_of_ten() {
        let scale = scale(true, &[20.0, 300.0], false);
        assert_eq!(scale.ticks(), [10.0, 100.0, 1_000.0]);
        assert!((scale.place(100.0) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn zero_stands_at_the_beginning_of_a_logarithmic_scale() {
        let scale = scale(true, &[0.0, 20.0, 300.0], false);
        assert!(scale.place(0.0).abs() < 1e-9);
    }

    #[test]
    fn one_value_alone_none_and_only_zeros_have_a_scale() {
        for values in [&[][..], &[7.0], &[0.0, 0.0], &[100.0]] {
            for (logarithmic, from_zero) in [(true, false), (false, true), (false, false)] {
                let scale = scale(logarithmic, values, from_zero);
                let ticks = scale.ticks();
                assert!(!ticks.is_empty() && ticks.len() < 12, "{values:?}: {ticks:?}");
                for value in values {
                    let place = scale.place(*value);
                    assert!((0.0..=100.0).contains(&place), "{values:?}: {place}");
                }
            }
        }
    }
}
