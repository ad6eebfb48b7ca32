use std::sync::Arc;

use embedded::Embedded;

use super::layouts::Sensor;
use super::*;

async fn sensor(layout: Layout) -> Sensor {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    layout.open(engine).await.unwrap()
}

#[tokio::test]
async fn many_readings_at_once_are_stored_as_one_by_one() {
    let readings = Pace::Busy.readings();
    for layout in Layout::ALL {
        let (many, each) = (sensor(layout).await, sensor(layout).await);
        many.load(&readings).await.unwrap();
        for reading in &readings {
            each.store(*reading).await.unwrap();
        }
        let newest = each.newest(readings.len()).await.unwrap();
        assert!(newest.iter().rev().eq(&readings), "{layout:?}");
        assert_eq!(many.newest(readings.len()).await.unwrap(), newest, "{layout:?}");
        for hour in 0..=QUIET_HOURS {
            let of_hour = readings.iter().filter(|reading| reading.hour() == hour);
            let found = each.hour(hour, 60).await.unwrap();
            assert!(found.iter().eq(of_hour), "{layout:?}");
            assert_eq!(many.hour(hour, 1_200).await.unwrap(), found, "{layout:?}");
        }
        let each = each.documents().await.unwrap();
        assert_eq!(many.documents().await.unwrap(), each, "{layout:?}");
    }
}
