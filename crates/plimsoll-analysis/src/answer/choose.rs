//! Which figures answer.

use super::cpu_speed::{AtCpuSpeeds, at_cpu_speeds};
use super::kinds::{
    AnswerResult, AnswerRow, ComparedBy, LoadAnswer, MediaAnswer, MediumRatio, NoAnswer, RateBasis,
    StepPeak,
};
use super::refused::{LoadPlace, RefusedFigures};
use crate::emulated::DriveOrder;
use crate::full_speed::FullSpeed;
use crate::predict::Prediction;
use crate::summary::{
    Comparison, Estimate, FigureId, Interval, LadderSummary, LoadSummary, MediumSpeed, Ratio,
    Verdict, is_like_speed, quantile,
};
use plimsoll_record::OfferedLoad;

/// What loads are chosen from.
#[derive(Clone, Copy)]
pub(super) struct ChoiceInput<'a> {
    pub ladders: &'a [LadderSummary],
    pub full_speed: &'a FullSpeed,
    pub orders: &'a [DriveOrder],
    pub refused: &'a RefusedFigures<'a>,
}

/// A drive that is at least as fast as another one carries no less; up to here chance makes the difference.
const ABOUT_THE_SAME: f64 = 1.05;

/// Indices of a load.
pub(super) struct ChosenLoad {
    pub ladder: usize,
    pub load: usize,
}

pub(super) struct ChosenAnswer {
    pub result: AnswerResult,
    pub nopm: bool,
    /// Whether a rule found an error in what is compared.
    pub is_refused: bool,
    pub rows: Vec<AnswerRow>,
    pub loads: Vec<ChosenLoad>,
}

impl ChosenAnswer {
    pub fn without_rows(result: AnswerResult) -> Self {
        Self {
            result,
            nopm: false,
            is_refused: false,
            rows: Vec::new(),
            loads: Vec::new(),
        }
    }

    pub fn basis(&self) -> Option<RateBasis> {
        match &self.result {
            AnswerResult::Media(own) => Some(own.basis),
            AnswerResult::Load(own) => Some(own.basis),
            _ => None,
        }
    }
}

/// The median rate of the repeats' predictions, with the parts of the one nearest below it.
pub(super) fn at_full_speed(
    full_speed: &FullSpeed,
    ladder: &LadderSummary,
    load: &LoadSummary,
) -> Option<Prediction> {
    let points = full_speed.points.iter().filter(|point| {
        (&point.step, &point.mode) == (&ladder.step, &ladder.mode)
            && Some(&point.medium) == ladder.medium.as_ref()
            && point.users == load.load.users
    });
    let mut repeats: Vec<Prediction> = points.map(|point| point.prediction).collect();
    repeats.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
    let below = *repeats.get(repeats.len().checked_sub(1)? / 2)?;
    let rates: Vec<f64> = repeats.iter().map(|own| own.per_second).collect();
    let median = quantile(&rates, 0.5);
    let factor = median / below.per_second;
    Some(Prediction {
        per_second: median,
        interval: below.interval.map(|own| own.scaled(factor)),
        nopm: below.nopm.map(|nopm| nopm * factor),
        ..below
    })
}

fn row(input: ChoiceInput<'_>, ladder: &LadderSummary, load: &LoadSummary) -> AnswerRow {
    let predicted = at_full_speed(input.full_speed, ladder, load).filter(|_| !load.load.is_open());
    let at_full_speed = predicted.and_then(|own| {
        let value = match load.figures.get(FigureId::Nopm) {
            Some(_) => own.nopm?,
            None => own.per_second,
        };
        let model = own
            .interval
            .map(|interval| interval.scaled(value / own.per_second));
        Estimate::single(
            value,
            model.and_then(|model| with_measured_error(model, load)),
        )
    });
    let is_uncertain =
        at_full_speed.is_some_and(|own| own.interval.is_none() || own.is_uncertain());
    AnswerRow {
        medium: ladder.medium.clone(),
        drive: ladder.drive.clone(),
        slower: slower(ladder),
        load: load.load,
        throughput: load.main_rate(),
        is_uncertain,
        at_full_speed: at_full_speed.filter(|_| !is_uncertain),
        at_cpu_speeds: at_cpu_speeds(ladder, load),
        p99_ms: load.figures.value(FigureId::P99),
        ratio: None,
        verdict: (input.refused).verdict(LoadPlace::of_ladder(ladder, load), load.verdict),
    }
}

/// A prediction can be no surer than the measured rate that it starts from.
fn with_measured_error(model: Interval, load: &LoadSummary) -> Option<Interval> {
    let measured = load.main_rate()?.interval?;
    Some(model.widened_by(measured).unwrap_or(model))
}

/// How many times slower than rated the ladder's drive ran, if it was slowed.
fn slower(ladder: &LadderSummary) -> Option<f64> {
    ladder.slower.filter(|factor| *factor > 1.0)
}

/// A medium at a load.
struct MediumSide<'a> {
    at: ChosenLoad,
    medium: &'a str,
    system: &'a str,
    row: AnswerRow,
}

impl MediumSide<'_> {
    fn is_valid(&self) -> bool {
        self.row.verdict < Verdict::Invalid && self.row.throughput.is_some()
    }

    /// Throughput at the drive's own speed, measured or predicted.
    fn own_speed(&self) -> Option<Estimate> {
        match self.row.slower {
            Some(_) => self.row.at_full_speed,
            None => self.row.throughput,
        }
    }
}

/// Media at one load, and on which basis they can be compared.
struct ComparableLoad<'a> {
    load: OfferedLoad,
    sides: Vec<MediumSide<'a>>,
    basis: RateBasis,
    /// Whether a side can be compared.
    usable: Vec<bool>,
    orders: &'a [DriveOrder],
}

impl<'a> ComparableLoad<'a> {
    fn of(input: ChoiceInput<'a>, comparison: &'a Comparison, load: OfferedLoad) -> Self {
        let media = comparison.media.iter();
        let sides: Vec<MediumSide<'a>> = media
            .filter_map(|own| {
                let ladder = &input.ladders[own.ladder];
                let mut loads = ladder.loads.iter();
                let place = loads.position(|other| other.load == load)?;
                Some(MediumSide {
                    at: ChosenLoad {
                        ladder: own.ladder,
                        load: place,
                    },
                    medium: &own.medium,
                    row: row(input, ladder, &ladder.loads[place]),
                    system: &ladder.system,
                })
            })
            .collect();
        let mut candidate = Self {
            load,
            basis: RateBasis::Measured,
            usable: Vec::new(),
            orders: input.orders,
            sides,
        };
        candidate.choose_basis();
        while let Some(pair) = candidate.contradicted() {
            for place in pair {
                let row = &mut candidate.sides[place].row;
                row.is_uncertain |= row.at_full_speed.take().is_some();
            }
            candidate.choose_basis();
        }
        candidate
    }

    /// A medium, and one behind it whose drive is at least as fast in every respect: something else than their drives made
    /// the difference.
    fn wrong_orders(&self) -> impl Iterator<Item = [usize; 2]> {
        let is_better =
            |own: Ratio| own.ratio > ABOUT_THE_SAME && own.interval.is_none_or(|own| own.low > 1.0);
        let pairs = self
            .media()
            .flat_map(|own| self.media().map(move |other| [own, other]));
        pairs.filter(move |[own, faster]| {
            self.is_as_fast(*faster, *own) && self.advantage(*own, *faster).is_some_and(is_better)
        })
    }

    fn has_wrong_order(&self) -> bool {
        self.wrong_orders().next().is_some()
    }

    /// Whether the drive of the first is at least as fast in every respect as that of the second.
    fn is_as_fast(&self, place: usize, other: usize) -> bool {
        let [faster, slower] = [place, other].map(|place| self.sides[place].medium);
        let mut orders = self.orders.iter();
        orders.any(|own| (own.faster.as_str(), own.slower.as_str()) == (faster, slower))
    }

    /// Two media of which the prediction says the opposite of their models, or of what was measured with both slowed down
    /// alike: which of them is faster does not depend on that.
    fn contradicted(&self) -> Option<[usize; 2]> {
        let is_predicted = |pair: &[usize; 2]| {
            let mut sides = pair.iter().map(|place| &self.sides[*place].row);
            sides.any(|row| row.at_full_speed.is_some())
        };
        // Without a prediction there is none that could give way.
        if matches!(self.basis, RateBasis::Predicted { .. })
            && let Some(pair) = self.wrong_orders().find(is_predicted)
        {
            return Some(pair);
        }
        let best = self.best()?;
        let mut others = self.media().filter(|place| *place != best);
        let place = others.find(|place| {
            let excludes_equal = |ratio: Option<Ratio>, best_is_better: bool| {
                ratio.is_some_and(|own| match (own.interval, best_is_better) {
                    (Some(interval), true) => interval.low > 1.0,
                    (Some(interval), false) => interval.high < 1.0,
                    (None, _) => (own.ratio > 1.0) == best_is_better,
                })
            };
            excludes_equal(self.ratio(best, *place), true)
                && excludes_equal(self.measured(best, *place), false)
        })?;
        Some([best, place])
    }

    /// The drives' own speed where two sides have it, else the speed at which the first valid one ran.
    fn choose_basis(&mut self) {
        let valid: Vec<bool> = self.sides.iter().map(MediumSide::is_valid).collect();
        let slowest = self
            .sides
            .iter()
            .filter_map(|side| side.row.slower)
            .reduce(f64::max);
        let own: Vec<bool> = self
            .sides
            .iter()
            .zip(&valid)
            .map(|(side, valid)| *valid && side.own_speed().is_some())
            .collect();
        let imposed = self.load.is_open();
        if own.iter().filter(|usable| **usable).count() > 1 && !imposed {
            self.usable = own;
            self.basis = slowest.map_or(RateBasis::Measured, |slower| RateBasis::Predicted {
                slower,
            });
            return;
        }
        let first = self.sides.iter().zip(&valid).find(|(_, valid)| **valid);
        let speed = first.and_then(|(side, _)| side.row.slower);
        let sides = self.sides.iter().zip(valid);
        self.usable = sides
            .map(|(side, valid)| valid && is_like_speed(side.row.slower, speed))
            .collect();
        self.basis = speed.map_or(RateBasis::Measured, |slower| RateBasis::Slowed { slower });
    }

    fn media(&self) -> impl Iterator<Item = usize> {
        self.usable
            .iter()
            .enumerate()
            .filter(|(_, usable)| **usable)
            .map(|(place, _)| place)
    }

    fn compared(&self) -> ComparedBy {
        match self.load.offered_per_second {
            Some(_) => ComparedBy::ResponseTime,
            None => ComparedBy::Throughput,
        }
    }

    fn rate(&self, place: usize) -> Option<Estimate> {
        let side = &self.sides[place];
        match self.basis {
            RateBasis::Predicted { .. } => side.own_speed(),
            RateBasis::Measured | RateBasis::Slowed { .. } => side.row.throughput,
        }
    }

    /// How many times the figure of the second that of the first is: a rate that the plan imposes is none.
    fn ratio(&self, of: usize, to: usize) -> Option<Ratio> {
        match self.compared() {
            ComparedBy::Throughput => self.rate(of)?.ratio_to(self.rate(to)?),
            ComparedBy::ResponseTime => {
                let [of, to] = [of, to].map(|place| self.sides[place].row.p99_ms);
                Ratio::of(of?, None, to?, None)
            }
        }
    }

    fn at_cpu_speeds(&self, of: usize, over: usize) -> Option<AtCpuSpeeds> {
        let [of, over] = [of, over].map(|place| self.sides[place].row.at_cpu_speeds);
        Some(of?.over(over?))
    }

    /// How many times better the first is than the second.
    fn advantage(&self, of: usize, over: usize) -> Option<Ratio> {
        match self.compared() {
            ComparedBy::Throughput => self.ratio(of, over),
            ComparedBy::ResponseTime => self.ratio(over, of),
        }
    }

    /// The ratio of what was measured, where it stands beside a prediction.
    fn measured(&self, of: usize, over: usize) -> Option<Ratio> {
        let [of, over] = [of, over].map(|place| &self.sides[place]);
        let is_beside =
            matches!(self.basis, RateBasis::Predicted { .. }) && of.row.slower == over.row.slower;
        is_beside.then_some(())?;
        of.row.throughput?.ratio_to(over.row.throughput?)
    }

    /// Of those that can be compared.
    fn best(&self) -> Option<usize> {
        let better = |best: usize, own: usize| {
            let is_better = self
                .advantage(own, best)
                .is_some_and(|ratio| ratio.ratio > 1.0);
            if is_better { own } else { best }
        };
        self.media().reduce(better)
    }

    fn result(&self) -> Option<AnswerResult> {
        if let Some([best, faster]) = self.wrong_orders().next() {
            return Some(AnswerResult::None(NoAnswer::WrongOrder {
                ratio: self.advantage(best, faster)?,
                best: self.sides[best].medium.to_owned(),
                faster: self.sides[faster].medium.to_owned(),
            }));
        }
        let best = self.best()?;
        let others = self.media().filter(|place| *place != best);
        let mut ratios: Vec<MediumRatio> = others
            .filter_map(|place| {
                Some(MediumRatio {
                    medium: self.sides[place].medium.to_owned(),
                    ratio: self.advantage(best, place)?,
                    measured: self.measured(best, place),
                    at_cpu_speeds: self.at_cpu_speeds(best, place),
                    is_as_fast: self.is_as_fast(place, best),
                })
            })
            .collect();
        ratios.sort_by(|a, b| a.ratio.ratio.total_cmp(&b.ratio.ratio));
        let (uncertain, others): (Vec<MediumRatio>, Vec<MediumRatio>) =
            ratios.into_iter().partition(|own| own.ratio.is_uncertain());
        let best = self.sides[best].medium.to_owned();
        if others.is_empty() && !uncertain.is_empty() {
            return Some(AnswerResult::None(NoAnswer::TooUncertain {
                best,
                ratios: uncertain,
            }));
        }
        (!others.is_empty()).then(|| {
            AnswerResult::Media(MediaAnswer {
                load: self.load,
                compared: self.compared(),
                basis: self.basis,
                best,
                others,
                uncertain,
                left_out: self.left_out(|side| !side.is_valid()),
                other_speeds: self.other_speeds(),
                real: self.real(),
                unslowed: self.unslowed(),
                unpredicted: self.unpredicted(),
            })
        })
    }

    fn left_out(&self, is: impl Fn(&MediumSide<'_>) -> bool) -> Vec<String> {
        let sides = self.sides.iter().zip(&self.usable);
        sides
            .filter(|(side, usable)| !**usable && is(side))
            .map(|(side, _)| side.medium.to_owned())
            .collect()
    }

    /// Valid media that ran at another speed than those that are compared.
    fn other_speeds(&self) -> Vec<MediumSpeed> {
        let sides = self.sides.iter().zip(&self.usable);
        sides
            .filter(|(side, usable)| !**usable && side.is_valid())
            .map(|(side, _)| MediumSpeed::new(side.medium, side.row.slower))
            .collect()
    }

    /// Real media that are compared with emulated ones.
    fn real(&self) -> Vec<String> {
        let compared = || self.media().map(|place| &self.sides[place]);
        if compared().all(|side| side.row.drive.is_none()) {
            return Vec::new();
        }
        compared()
            .filter(|side| side.row.drive.is_none())
            .map(|side| side.medium.to_owned())
            .collect()
    }

    /// Emulated media that ran at full speed, beside predictions for others.
    fn unslowed(&self) -> Vec<String> {
        if !matches!(self.basis, RateBasis::Predicted { .. }) {
            return Vec::new();
        }
        let compared = self.media().map(|place| &self.sides[place]);
        compared
            .filter(|side| side.row.drive.is_some() && side.row.slower.is_none())
            .map(|side| side.medium.to_owned())
            .collect()
    }

    /// Whose full speed is too uncertain to be given.
    fn unpredicted(&self) -> Vec<String> {
        let sides = self.sides.iter();
        sides
            .filter(|side| side.row.is_uncertain && side.is_valid())
            .map(|side| side.medium.to_owned())
            .collect()
    }

    /// Whether a comparison of two of these media is refused.
    fn is_refused(&self, refused: &RefusedFigures<'_>) -> bool {
        let systems: Vec<&str> = self.media().map(|place| self.sides[place].system).collect();
        refused.has_pair(&systems)
    }

    /// Ratios are those of the sentence: how many times better the best medium is than that of the row.
    fn into_rows(self) -> (Vec<AnswerRow>, Vec<ChosenLoad>) {
        let best = self.best().filter(|_| !self.has_wrong_order());
        let ratios: Vec<Option<Ratio>> = (0..self.sides.len())
            .map(|place| {
                let best = best.filter(|best| self.usable[place] && *best != place)?;
                self.advantage(best, place)
                    .filter(|own| !own.is_uncertain())
            })
            .collect();
        let sides = self.sides.into_iter().zip(ratios);
        sides
            .map(|(side, ratio)| (AnswerRow { ratio, ..side.row }, side.at))
            .unzip()
    }
}

/// The first comparison of media with an answer; without any, why there is none.
pub(super) fn media(input: ChoiceInput<'_>, comparisons: &[Comparison]) -> Option<ChosenAnswer> {
    let mut all = comparisons.iter().map(|own| of_comparison(input, own));
    let first = all.next()?;
    if !matches!(first.result, AnswerResult::None(_)) {
        return Some(first);
    }
    let answered = all.find(|own| !matches!(own.result, AnswerResult::None(_)));
    Some(answered.unwrap_or(first))
}

fn of_comparison(input: ChoiceInput<'_>, comparison: &Comparison) -> ChosenAnswer {
    let loads = comparison.loads.iter().map(|own| own.load);
    let candidates: Vec<ComparableLoad<'_>> = loads
        .map(|load| ComparableLoad::of(input, comparison, load))
        .collect();
    let valid = valid_media(&candidates);
    let best = candidates.into_iter().max_by(|a, b| {
        let rank = |own: &ComparableLoad<'_>| {
            let is_predicted = matches!(own.basis, RateBasis::Predicted { .. });
            (!own.has_wrong_order(), own.media().count(), is_predicted)
        };
        rank(a)
            .cmp(&rank(b))
            .then(a.load.height().total_cmp(&b.load.height()))
    });
    let Some(best) = best else {
        return ChosenAnswer::without_rows(AnswerResult::None(NoAnswer::NothingMeasured));
    };
    let result = best.result();
    let result = result.unwrap_or_else(|| AnswerResult::None(why_not(&best, &valid)));
    let is_refused = best.is_refused(input.refused);
    let (rows, loads) = best.into_rows();
    ChosenAnswer {
        result,
        is_refused,
        nopm: comparison.nopm,
        rows,
        loads,
    }
}

/// Media that are valid at any load, each once.
fn valid_media(candidates: &[ComparableLoad<'_>]) -> Vec<String> {
    let sides = candidates.iter().flat_map(|own| &own.sides);
    let valid = sides.filter(|side| side.is_valid());
    let mut media: Vec<String> = valid.map(|side| side.medium.to_owned()).collect();
    media.sort();
    media.dedup();
    media
}

/// `valid` are the media that are valid at any load.
fn why_not(best: &ComparableLoad<'_>, valid: &[String]) -> NoAnswer {
    match valid {
        [] => NoAnswer::NothingMeasured,
        [one] => NoAnswer::OneValidMedium {
            valid: Some(one.clone()),
        },
        _ if best.sides.iter().filter(|side| side.is_valid()).count() > 1 => {
            let sides = best.sides.iter().filter(|side| side.is_valid());
            NoAnswer::UnequalSpeeds {
                media: sides
                    .map(|side| MediumSpeed::new(side.medium, side.row.slower))
                    .collect(),
                unpredicted: best.unpredicted(),
            }
        }
        _ => NoAnswer::NoCommonLoad,
    }
}

/// The ladder with the highest throughput.
pub(super) fn single(input: ChoiceInput<'_>) -> Option<ChosenAnswer> {
    let ladders = input.ladders;
    let peaks = ladders.iter().enumerate().filter_map(|(place, ladder)| {
        let peak = valid_peak(input, ladder)?;
        let rate = ladder.loads[peak].main_rate()?;
        Some((place, peak, rate.value))
    });
    let (place, peak, _) = peaks.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let ladder = &ladders[place];
    let load = &ladder.loads[peak];
    let rows: Vec<AnswerRow> = ladder
        .loads
        .iter()
        .map(|own| row(input, ladder, own))
        .collect();
    let own = &rows[peak];
    let basis = match (slower(ladder), own.at_full_speed) {
        (Some(slower), Some(_)) => RateBasis::Predicted { slower },
        (Some(slower), None) => RateBasis::Slowed { slower },
        (None, _) => RateBasis::Measured,
    };
    let compared = match load.load.offered_per_second {
        Some(_) => ComparedBy::ResponseTime,
        None => ComparedBy::Throughput,
    };
    Some(ChosenAnswer {
        result: AnswerResult::Load(LoadAnswer {
            medium: ladder.medium.clone(),
            load: own.load,
            compared,
            basis,
            rate: own.at_full_speed.or(own.throughput)?,
            at_cpu_speeds: own.at_cpu_speeds,
            p99_ms: own.p99_ms,
            is_peak: peak + 1 < ladder.loads.len(),
            step: ladders
                .iter()
                .any(|other| other.step != ladder.step)
                .then(|| ladder.step.clone()),
            others: other_steps(input, ladder),
        }),
        nopm: load.figures.get(FigureId::Nopm).is_some(),
        is_refused: false,
        rows,
        loads: vec![ChosenLoad {
            ladder: place,
            load: peak,
        }],
    })
}

/// The load with the highest rate among those on which neither a finding nor a rule has an error.
fn valid_peak(input: ChoiceInput<'_>, ladder: &LadderSummary) -> Option<usize> {
    let is_valid = |place: usize| {
        let load = &ladder.loads[place];
        let place = LoadPlace::of_ladder(ladder, load);
        input.refused.verdict(place, load.verdict) < Verdict::Invalid
    };
    // A search has its own.
    if ladder.line.is_some() {
        return ladder.peak.filter(|peak| is_valid(*peak));
    }
    let valid = (0..ladder.loads.len()).filter(|place| is_valid(*place));
    let rates = valid.filter_map(|place| Some((place, ladder.loads[place].main_rate()?.value)));
    rates
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(place, _)| place)
}

/// The peaks of the steps with this one's workload at its speed, in the order of the plan.
fn other_steps(input: ChoiceInput<'_>, own: &LadderSummary) -> Vec<StepPeak> {
    let mut peaks: Vec<StepPeak> = Vec::new();
    for ladder in input.ladders {
        let is_other = ladder.step != own.step
            && ladder.workload == own.workload
            && is_like_speed(ladder.slower, own.slower);
        let Some(peak) = valid_peak(input, ladder).filter(|_| is_other) else {
            continue;
        };
        let Some(rate) = ladder.loads[peak].main_rate() else {
            continue;
        };
        let step = ladder.step.clone();
        let rate = rate.value;
        match peaks.iter_mut().find(|own| own.step == step) {
            Some(known) => known.rate = known.rate.max(rate),
            None => peaks.push(StepPeak { step, rate }),
        }
    }
    peaks
}
