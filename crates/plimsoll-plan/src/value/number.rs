//! Numbers whose type states which of them are possible: the reader refuses all others, and the schema shows the bounds.

use std::marker::PhantomData;

use super::PlanValue;
use super::scalar::{FromScalar, Scalar, ValueFault, scalars};

/// A whole number from `LEAST` to `MOST`, which fit into 32 bits.
#[derive(Debug, Clone, Copy)]
pub struct Whole<const LEAST: i64, const MOST: i64>(u32);

impl<const LEAST: i64, const MOST: i64> FromScalar for Whole<LEAST, MOST> {
    const EXPECTED: &'static str = "a whole number";

    fn from_scalar(scalar: &Scalar<'_>) -> Option<Result<Self, ValueFault>> {
        let Scalar::Whole(number) = *scalar else {
            return None;
        };
        let value = u32::try_from(number)
            .ok()
            .filter(|_| (LEAST..=MOST).contains(&number));
        Some(value.map(Self).ok_or_else(|| {
            ValueFault::impossible(number, format!("{LEAST} to {MOST} is possible"))
        }))
    }
}

impl<const LEAST: i64, const MOST: i64> PlanValue for Whole<LEAST, MOST> {
    type Resolved = u32;

    fn resolved(&self) -> u32 {
        self.0
    }

    fn written(value: u32) -> serde_json::Value {
        value.into()
    }
}

/// Least number above zero: zero itself is impossible.
pub const ABOVE_ZERO: f64 = f64::MIN_POSITIVE;

/// Which numbers are possible.
pub trait Bounds {
    const LEAST: f64;
    const MOST: f64;
    /// What to write instead of an impossible one; empty: the bounds.
    const HELP: &'static str;
}

/// Declares bounds by their name, least, most and help.
macro_rules! bounds {
    ($($(#[$doc:meta])* $name:ident: $least:expr, $most:expr, $help:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub enum $name {}

        impl $crate::value::Bounds for $name {
            const LEAST: f64 = $least;
            const MOST: f64 = $most;
            const HELP: &'static str = $help;
        }
    )*};
}
pub(crate) use bounds;

/// A number within bounds.
#[derive(Debug, Clone, Copy)]
pub struct Decimal<B>(f64, PhantomData<B>);

impl<B: Bounds> FromScalar for Decimal<B> {
    const EXPECTED: &'static str = "a number";

    fn from_scalar(scalar: &Scalar<'_>) -> Option<Result<Self, ValueFault>> {
        let number = match *scalar {
            Scalar::Whole(number) => number as f64,
            Scalar::Decimal(number) => number,
            Scalar::Text(_) | Scalar::Bool(_) => return None,
        };
        // Never NaN.
        if (B::LEAST..=B::MOST).contains(&number) {
            // Not -0.0, which reads oddly.
            return Some(Ok(Self(number + 0.0, PhantomData)));
        }
        let help = match B::HELP {
            "" => format!("{} to {} is possible", B::LEAST, B::MOST),
            help => help.to_owned(),
        };
        Some(Err(ValueFault::impossible(number, help)))
    }
}

impl<B: Bounds> PlanValue for Decimal<B> {
    type Resolved = f64;

    fn resolved(&self) -> f64 {
        self.0
    }

    fn written(value: f64) -> serde_json::Value {
        shown(value)
    }
}

/// A number as people write it: whole ones without a point.
fn shown(bound: f64) -> serde_json::Value {
    match bound {
        ABOVE_ZERO => 0.into(),
        whole if whole.fract() == 0.0 => (whole as i64).into(),
        decimal => decimal.into(),
    }
}

/// Keyword of the schema for the least number.
fn least_keyword(least: f64) -> &'static str {
    match least {
        ABOVE_ZERO => "exclusiveMinimum",
        _ => "minimum",
    }
}

scalars! {
    impl[const LEAST: i64, const MOST: i64] Whole<LEAST, MOST>, "Whole", {
        "type": "integer", "minimum": LEAST, "maximum": MOST
    };
    impl[B: Bounds] Decimal<B>, "Decimal", {
        "type": "number", (least_keyword(B::LEAST)): shown(B::LEAST), "maximum": shown(B::MOST)
    };
}
