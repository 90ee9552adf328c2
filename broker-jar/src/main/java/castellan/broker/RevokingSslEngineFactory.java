package castellan.broker;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.security.auth.SslEngineFactory;
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory;

/**
 * Kafka's own TLS engine factory for the listener of clients with certificates, which
 * refuses the revoked ones.
 *
 * <p>Kafka's factory keeps its trust managers to itself, so listeners get engines of
 * another context, made from the same stores and set up like Kafka's. The list is the one
 * of the moment at which this was made: a changed list makes a new factory and with it a
 * new context, in which no session of the old one can be resumed.
 */
final class RevokingSslEngineFactory implements SslEngineFactory {
    private final DefaultSslEngineFactory kafka = new DefaultSslEngineFactory();
    private final Path list;
    private SSLContext context;
    private SSLParameters parameters;

    RevokingSslEngineFactory(Path list) {
        this.list = list;
    }

    @Override
    public void configure(Map<String, ?> configs) {
        kafka.configure(configs);
        parameters = kafka.createServerSslEngine(null, -1).getSSLParameters();
        try {
            context = context(RevokedSerials.read(list));
        } catch (GeneralSecurityException | IOException e) {
            throw new KafkaException("The TLS context of clients' certificates can't be made", e);
        }
    }

    private SSLContext context(Set<BigInteger> revoked) throws GeneralSecurityException {
        KeyManagerFactory keys =
                KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        // The agent writes keys that are not encrypted.
        keys.init(kafka.keystore(), null);
        TrustManagerFactory trust =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(kafka.truststore());
        TrustManager[] managers = trust.getTrustManagers();
        for (int i = 0; i < managers.length; i++) {
            if (!(managers[i] instanceof X509ExtendedTrustManager trusted)) {
                throw new GeneralSecurityException("a trust manager is none for certificates");
            }
            managers[i] = new RevokingTrustManager(trusted, revoked);
        }
        SSLContext made = SSLContext.getInstance("TLS");
        made.init(keys.getKeyManagers(), managers, null);
        return made;
    }

    @Override
    public SSLEngine createServerSslEngine(String peerHost, int peerPort) {
        SSLEngine engine = context.createSSLEngine(peerHost, peerPort);
        engine.setUseClientMode(false);
        engine.setSSLParameters(parameters);
        return engine;
    }

    @Override
    public SSLEngine createClientSslEngine(String peerHost, int peerPort, String identification) {
        return kafka.createClientSslEngine(peerHost, peerPort, identification);
    }

    @Override
    public boolean shouldBeRebuilt(Map<String, Object> nextConfigs) {
        return kafka.shouldBeRebuilt(nextConfigs);
    }

    @Override
    public Set<String> reconfigurableConfigs() {
        return kafka.reconfigurableConfigs();
    }

    @Override
    public KeyStore keystore() {
        return kafka.keystore();
    }

    @Override
    public KeyStore truststore() {
        return kafka.truststore();
    }

    @Override
    public void close() {
        kafka.close();
    }
}
