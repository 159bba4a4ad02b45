const pem = (kind: string, base64: string) => `-----BEGIN ${kind}-----\n${base64.match(/.{1,64}/g)!.join('\n')}\n-----END ${kind}-----\n`;
const KEY = pem(
  'PRIVATE KEY',
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgtJHGJN9AC4X6U7qmqvO55pi7Q4Wf/1I5HU24ZoL52MihRANCAAQTH8X2FnxfUN9f3QVTCQm/' +
    'wfhtpaSXaausWvwqUvF0lP6RrLCF8PeraIP6ACbI2eosrik7ab1axVdET+BcJJFZ',
);
const CERT = pem(
  'CERTIFICATE',
  'MIIBnTCCAUSgAwIBAgIUbI0qROrSrAplzC0tdwZHhkExN5gwCgYIKoZIzj0EAwIwFzEVMBMGA1UEAwwMc2hvcC5leGFtcGxlMCAXDTI2MTEyMTAxMzI0NloY' +
    'DzIxMjYxMDI4MDEzMjQ2WjAXMRUwEwYDVQQDDAxzaG9wLmV4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQTH8X2FnxfUN9f3QVTCQm/wfhtpaSX' +
    'aausWvwqUvF0lP6RrLCF8PeraIP6ACbI2eosrik7ab1axVdET+BcJJFZo2wwajAdBgNVHQ4EFgQUJXAjSZ2kjnSC6Pj2eT+3Ug0ptLMwHwYDVR0jBBgwFoAU' +
    'JXAjSZ2kjnSC6Pj2eT+3Ug0ptLMwDwYDVR0TAQH/BAUwAwEB/zAXBgNVHREEEDAOggxzaG9wLmV4YW1wbGUwCgYIKoZIzj0EAwIDRwAwRAIgDoUpqJ2Mk92f' +
    'bv89zEIXENPkimioXotbRCf7q7083ycCIH9E0QVpP8jjXyUW41fd9eu4YI0tIIP6270go78Hqenq',
);

/** A self-signed certificate for shop.example, good until 2126, and its key, in PEM. They guard nothing. */
export const SHOP_EXAMPLE = { key: KEY, cert: CERT };
