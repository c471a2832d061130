#pragma once

namespace hydra {

/// True if every read, write, accept and connect of OpenSSL in this process begins with an empty error queue, as
/// SSL_get_error(3) demands. CAF 0.17.6 leaves errors in it, and takes those of one connection for those of another:
/// without this the end of one node would disconnect others.
bool openssl_errors_are_cleared();

}  // namespace hydra
