package castellan.broker;

import java.math.BigInteger;
import java.net.Socket;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertPathValidatorException.BasicReason;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Set;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/** Trusts whom another one trusts, but for clients whose certificates are revoked. */
final class RevokingTrustManager extends X509ExtendedTrustManager {
    private final X509ExtendedTrustManager trusted;
    private final Set<BigInteger> revoked;

    RevokingTrustManager(X509ExtendedTrustManager trusted, Set<BigInteger> revoked) {
        this.trusted = trusted;
        this.revoked = revoked;
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        trusted.checkClientTrusted(chain, authType, engine);
        check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        trusted.checkClientTrusted(chain, authType, socket);
        check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType)
            throws CertificateException {
        trusted.checkClientTrusted(chain, authType);
        check(chain);
    }

    /** Its authority is the one that is trusted, or it would not have come so far. */
    private void check(X509Certificate[] chain) throws CertificateException {
        if (revoked.contains(chain[0].getSerialNumber())) {
            String serial = chain[0].getSerialNumber().toString(16);
            throw new CertificateException(
                    new CertPathValidatorException(
                            "The client's certificate " + serial + " is revoked",
                            null,
                            null,
                            -1,
                            BasicReason.REVOKED));
        }
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        trusted.checkServerTrusted(chain, authType, engine);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        trusted.checkServerTrusted(chain, authType, socket);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType)
            throws CertificateException {
        trusted.checkServerTrusted(chain, authType);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return trusted.getAcceptedIssuers();
    }
}
