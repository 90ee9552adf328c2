package castellan.broker;

import java.security.Provider;
import java.security.Security;
import java.util.Map;
import javax.security.auth.callback.CallbackHandler;
import javax.security.sasl.SaslException;
import javax.security.sasl.SaslServer;
import javax.security.sasl.SaslServerFactory;
import org.apache.kafka.common.security.scram.internals.ScramMechanism;
import org.apache.kafka.common.security.scram.internals.ScramSaslServer;

/**
 * Lets clients on librdkafka before 2.6.1 log in.
 *
 * <p>They say their own nonce twice in the last message of SCRAM. Kafka up to 3.9 took
 * that, 4.0 and later answer "invalid credentials" to a right password, and what Debian
 * and Ubuntu ship today are such clients. This stands in front of Kafka's own servers
 * for SCRAM and takes over only where a client makes exactly that mistake.
 */
public final class OldScramClients extends Provider {
    private static final long serialVersionUID = 1L;

    private OldScramClients() {
        super("CastellanScram", "1.0", "SCRAM for clients that say their nonce twice");
        for (ScramMechanism mechanism : ScramMechanism.values()) {
            put("SaslServerFactory." + mechanism.mechanismName(), Factory.class.getName());
        }
    }

    /** Must come before Kafka registers its own servers, and does: those are appended. */
    static void letIn() {
        Security.insertProviderAt(new OldScramClients(), 1);
    }

    /** Found by its name, so it is public. */
    public static final class Factory implements SaslServerFactory {
        private final SaslServerFactory kafka = new ScramSaslServer.ScramSaslServerFactory();

        @Override
        public SaslServer createSaslServer(
                String mechanism,
                String protocol,
                String serverName,
                Map<String, ?> settings,
                CallbackHandler credentials)
                throws SaslException {
            SaslServer server =
                    kafka.createSaslServer(mechanism, protocol, serverName, settings, credentials);
            return new OldScramServer(server, ScramMechanism.forMechanismName(mechanism), credentials);
        }

        @Override
        public String[] getMechanismNames(Map<String, ?> settings) {
            return kafka.getMechanismNames(settings);
        }
    }
}
