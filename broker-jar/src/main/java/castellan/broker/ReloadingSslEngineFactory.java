package castellan.broker;

import java.security.KeyStore;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLEngine;
import org.apache.kafka.common.security.auth.SslEngineFactory;

/**
 * Kafka's own TLS engine factory, built again when one of its files changes.
 *
 * <p>Every new connection asks for an engine, on listeners as on the broker's own
 * clients, so a replaced certificate is used from the next connection on, without
 * a call or a restart.
 *
 * <p>Kafka makes one factory for each network thread and client. Those with the same
 * settings share one set of loaded files: all of them change at the same moment, a TLS
 * session can be resumed on any thread, and the files are read once.
 */
public final class ReloadingSslEngineFactory implements SslEngineFactory {
    private static final Map<Map<String, Object>, TlsFiles> LOADED = new ConcurrentHashMap<>();

    private TlsFiles files;

    /** Drops what was loaded. Factories that are in use keep theirs. */
    static void forget() {
        LOADED.clear();
    }

    @Override
    public void configure(Map<String, ?> configs) {
        Map<String, Object> settings = new HashMap<>();
        configs.forEach(
                (name, value) -> {
                    if (name.startsWith("ssl.") && value != null) {
                        settings.put(name, value);
                    }
                });
        files = LOADED.computeIfAbsent(settings, key -> new TlsFiles(configs));
    }

    @Override
    public SSLEngine createClientSslEngine(String peerHost, int peerPort, String identification) {
        return files.factory().createClientSslEngine(peerHost, peerPort, identification);
    }

    @Override
    public SSLEngine createServerSslEngine(String peerHost, int peerPort) {
        return files.factory().createServerSslEngine(peerHost, peerPort);
    }

    @Override
    public boolean shouldBeRebuilt(Map<String, Object> nextConfigs) {
        return files.factory().shouldBeRebuilt(nextConfigs);
    }

    @Override
    public Set<String> reconfigurableConfigs() {
        return files.factory().reconfigurableConfigs();
    }

    @Override
    public KeyStore keystore() {
        return files.factory().keystore();
    }

    @Override
    public KeyStore truststore() {
        return files.factory().truststore();
    }

    @Override
    public void close() {
        // Others may share what was loaded, and it holds nothing but memory.
    }
}
