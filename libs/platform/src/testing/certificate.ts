export const pem = (kind: string, base64: string) =>
  `-----BEGIN ${kind}-----\n${base64.match(/.{1,64}/g)!.join('\n')}\n-----END ${kind}-----\n`;
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

/** Another of renewed.example, with a key of its own, good until 2126. */
export const RENEWED_EXAMPLE = {
  key: pem(
    'PRIVATE KEY',
    'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg2DB4CAvHPVcF1XT9ahsCxAFrLrLoAUZ3TD87sCgBQtahRANCAAQLVY7Z1Ln0if92DXCUhFBU2BT0' +
      'nmccn17WZlyR8ne2GEfK31eMLPFZWqdgxFS6sJvAr4jTQjbeIswfGiw0uwOs',
  ),
  cert: pem(
    'CERTIFICATE',
    'MIIBijCCATCgAwIBAgITUBVKYFa3wKiOmi1lvsqUoHW2fjAKBggqhkjOPQQDAjAaMRgwFgYDVQQDDA9yZW5ld2VkLmV4YW1wbGUwIBcNMjYxMTI4MTQ0MzExWhgP' +
      'MjEyNjExMDQxNDQzMTFaMBoxGDAWBgNVBAMMD3JlbmV3ZWQuZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAtVjtnUufSJ/3YNcJSEUFTYFPSeZxyf' +
      'XtZmXJHyd7YYR8rfV4ws8Vlap2DEVLqwm8CviNNCNt4izB8aLDS7A6yjUzBRMB0GA1UdDgQWBBSb/Wa1rqPeN9QoeZRgI3YOVFrHTDAfBgNVHSMEGDAWgBSb/Wa1' +
      'rqPeN9QoeZRgI3YOVFrHTDAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQDIIIJ1cbe3HFGsPyFYlhicNcHlvgyPAmy/J5RQSSJu3wIgU6ivWkHp' +
      'gvQkVlZyyKMfgd8aM1mQHOTmkn1n7E8DTPg=',
  ),
};
