//! Chooses the images to remove from a history that still does not fit.

/// Returns the messages whose images are removed to free `excess`, oldest first. `images` has the size of the removable
/// images in each message.
pub fn images(images: &[f64], excess: f64) -> Vec<usize> {
    let mut left = excess;
    let mut gone = Vec::new();
    for (at, &size) in images.iter().enumerate() {
        if left <= 0.0 {
            break;
        }
        if size > 0.0 {
            gone.push(at);
            left -= size;
        }
    }
    gone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_go_oldest_first() {
        assert_eq!(images(&[0.0, 10.0, 0.0, 10.0, 10.0], 15.0), [1, 3]);
        assert_eq!(images(&[10.0], 0.0), [0usize; 0]);
        assert_eq!(images(&[10.0], 100.0), [0]);
    }
}
