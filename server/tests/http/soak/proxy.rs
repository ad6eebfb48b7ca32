//! A proxy that is slow, and that gives up before its server answers.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::dice::Dice;
use crate::support::{Server, TIMEOUT};

/// Passes connections on to a server. A fifth of the requests are cut off 2 to 30 ms after they were passed on, and a
/// tenth are passed on 2 to 30 ms late.
pub struct Proxy {
    pub address: String,
    server: Arc<Mutex<String>>,
}

impl Proxy {
    pub fn before(server: &Server, mut dice: Dice) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = Arc::new(Mutex::new(server.address.clone()));
        let target = Arc::clone(&server);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (target, dice) = (target.lock().unwrap().clone(), dice.split());
                // A server that is down refuses the connection, which closes the client's.
                if let Ok(server) = TcpStream::connect(target) {
                    server.set_read_timeout(Some(TIMEOUT)).unwrap();
                    let (back, front) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                    thread::spawn(move || requests(client, server, dice));
                    thread::spawn(move || answers(back, front));
                }
            }
        });
        Self { address, server }
    }

    /// The server has another address since it was restarted.
    pub fn follows(&self, server: &Server) {
        self.server.lock().unwrap().clone_from(&server.address);
    }
}

/// Passes requests on. One that is read in two parts, head and body, counts as two.
fn requests(mut client: TcpStream, mut server: TcpStream, mut dice: Dice) {
    let mut part = [0; 16 * 1024];
    while let Ok(length @ 1..) = client.read(&mut part) {
        let pause = Duration::from_millis(2 + dice.below(29));
        let fate = dice.below(10);
        if fate == 0 {
            thread::sleep(pause);
        }
        if server.write_all(&part[..length]).is_err() {
            break;
        }
        if (1..=2).contains(&fate) {
            thread::sleep(pause);
            break;
        }
    }
    close(&client, &server);
}

fn answers(mut server: TcpStream, mut client: TcpStream) {
    let mut part = [0; 16 * 1024];
    while let Ok(length @ 1..) = server.read(&mut part) {
        if client.write_all(&part[..length]).is_err() {
            break;
        }
    }
    close(&client, &server);
}

/// Closes both connections, in all threads that use them. Either may be closed already.
fn close(client: &TcpStream, server: &TcpStream) {
    for connection in [client, server] {
        drop(connection.shutdown(Shutdown::Both));
    }
}
