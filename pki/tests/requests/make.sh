#!/usr/bin/env bash
# Makes the requests of these tests anew, with openssl and with Java's keytool.
# Their keys are thrown away.
set -euo pipefail
cd "$(dirname "$0")"
keys=$(mktemp -d)
trap 'rm -rf "$keys"' EXIT

# openssl's: file name, algorithm, its option, and the rest of the command.
request() {
    local name=$1 algorithm=$2 option=$3
    shift 3
    openssl genpkey -quiet -algorithm "$algorithm" ${option:+-pkeyopt "$option"} -out "$keys/$name"
    openssl req -new -batch -key "$keys/$name" -out "$name.csr" "$@"
}
# keytool's: file name, its options, and a subject.
keytool_request() {
    local name=$1 options=$2 subject=$3
    local store=(-keystore "$keys/$name" -storepass changeit -alias k)
    # shellcheck disable=SC2086
    keytool -genkeypair "${store[@]}" $options -dname "$subject" 2>/dev/null
    keytool -certreq "${store[@]}" -file "$name.csr" 2>/dev/null
}

EC256=ec_paramgen_curve:P-256
request rsa-2048 RSA rsa_keygen_bits:2048 -subj /CN=orders
request rsa-4096-sha512 RSA rsa_keygen_bits:4096 -subj /CN=orders -sha512
request rsa-pss RSA rsa_keygen_bits:2048 -subj /CN=orders -sigopt rsa_padding_mode:pss \
    -sigopt rsa_pss_saltlen:32
request p256 EC $EC256 -subj /CN=orders
request p384 EC ec_paramgen_curve:P-384 -subj /CN=orders
request p384-sha384 EC ec_paramgen_curve:P-384 -subj /CN=orders -sha384
request ed25519 ED25519 "" -subj /CN=orders
request with-words EC $EC256 -subj /CN=orders -text
request much-asked EC $EC256 -subj "/C=SE/O=Acme/OU=CA/CN=orders/emailAddress=a@b.test" \
    -addext basicConstraints=critical,CA:true,pathlen:3 -addext keyUsage=keyCertSign,cRLSign \
    -addext extendedKeyUsage=serverAuth,anyExtendedKeyUsage \
    -addext subjectAltName=DNS:broker-1,DNS:castellan,IP:127.0.0.1
request all-but-authority EC $EC256 \
    -subj "/C=SE/O=Acme/OU=CA/CN=orders/emailAddress=a@b.test" \
    -addext basicConstraints=CA:false -addext keyUsage=keyCertSign,cRLSign \
    -addext extendedKeyUsage=serverAuth,anyExtendedKeyUsage \
    -addext subjectAltName=DNS:broker-1,DNS:castellan,IP:127.0.0.1
request beside EC $EC256 -subj "/O=Acme/CN=orders+OU=eu" -multivalue-rdn
keytool_request keytool-rsa "-keyalg RSA -keysize 3072" "CN=orders, OU=eu, O=Acme"
keytool_request keytool-p384 "-keyalg EC -groupname secp384r1" "CN=orders"
keytool_request keytool-ed25519 "-keyalg Ed25519" "CN=orders"

request rsa-1024 RSA rsa_keygen_bits:1024 -subj /CN=orders
request rsa-2047 RSA rsa_keygen_bits:2047 -subj /CN=orders
request sha1 RSA rsa_keygen_bits:2048 -subj /CN=orders -sha1
request ec-sha512 EC $EC256 -subj /CN=orders -sha512
request p521 EC ec_paramgen_curve:P-521 -subj /CN=orders
request secp256k1 EC ec_paramgen_curve:secp256k1 -subj /CN=orders
request ed448 ED448 "" -subj /CN=orders
request no-name EC $EC256 -subj /O=orders
request no-subject EC $EC256 -subj /
request two-names EC $EC256 -subj /CN=orders/O=Acme/CN=payments
request two-names-beside EC $EC256 -subj /CN=orders+CN=payments -multivalue-rdn
request bad-name EC $EC256 -subj "/CN=orders,O=x"
request dot-first EC $EC256 -subj /CN=.orders
request long-name EC $EC256 -subj "/CN=$(printf 'x%.0s' {1..64})"
request unicode EC $EC256 -utf8 -subj "/CN=örders"
request reserved EC $EC256 -subj /CN=castellan
