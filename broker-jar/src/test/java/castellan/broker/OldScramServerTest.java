package castellan.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.security.sasl.SaslException;
import javax.security.sasl.SaslServer;
import org.apache.kafka.common.security.scram.ScramCredential;
import org.apache.kafka.common.security.scram.ScramCredentialCallback;
import org.apache.kafka.common.security.scram.internals.ScramFormatter;
import org.apache.kafka.common.security.scram.internals.ScramMechanism;
import org.apache.kafka.common.security.scram.internals.ScramMessages.ClientFinalMessage;
import org.apache.kafka.common.security.scram.internals.ScramMessages.ClientFirstMessage;
import org.apache.kafka.common.security.scram.internals.ScramMessages.ServerFirstMessage;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Logins as a right client makes them, and as librdkafka before 2.6.1 does. */
class OldScramServerTest {
    private static final String PASSWORD = "right";

    @ParameterizedTest
    @EnumSource(ScramMechanism.class)
    void aClientThatSaysItsNonceTwiceLogsInWithTheRightPassword(ScramMechanism mechanism)
            throws Exception {
        SaslServer server = server(mechanism);
        logIn(server, mechanism, PASSWORD, (client, both) -> client + both);
        assertTrue(server.isComplete());
        assertEquals("alice", server.getAuthorizationID());
    }

    @ParameterizedTest
    @EnumSource(ScramMechanism.class)
    void aRightClientLogsIn(ScramMechanism mechanism) throws Exception {
        SaslServer server = server(mechanism);
        logIn(server, mechanism, PASSWORD, (client, both) -> both);
        assertTrue(server.isComplete());
        assertEquals("alice", server.getAuthorizationID());
    }

    @ParameterizedTest
    @EnumSource(ScramMechanism.class)
    void aWrongPasswordIsRefusedEitherWay(ScramMechanism mechanism) throws Exception {
        for (Nonce nonce : new Nonce[] {(client, both) -> both, (client, both) -> client + both}) {
            SaslServer server = server(mechanism);
            assertThrows(SaslException.class, () -> logIn(server, mechanism, "wrong", nonce));
            assertFalse(server.isComplete());
        }
    }

    /** Without the server's part an old login could be replayed. */
    @ParameterizedTest
    @EnumSource(ScramMechanism.class)
    void aNonceWithoutTheServersPartIsRefused(ScramMechanism mechanism) throws Exception {
        SaslServer server = server(mechanism);
        assertThrows(
                SaslException.class,
                () -> logIn(server, mechanism, PASSWORD, (client, both) -> client + client));
        assertFalse(server.isComplete());
    }

    /** What the client's last message has as its nonce. */
    private interface Nonce {
        String of(String client, String both);
    }

    private static SaslServer server(ScramMechanism mechanism) throws Exception {
        ScramCredential credential =
                new ScramFormatter(mechanism).generateCredential(PASSWORD, mechanism.minIterations());
        CallbackHandler credentials =
                callbacks -> {
                    for (Callback callback : callbacks) {
                        if (callback instanceof ScramCredentialCallback wanted) {
                            wanted.scramCredential(credential);
                        }
                    }
                };
        return new OldScramClients.Factory()
                .createSaslServer(
                        mechanism.mechanismName(), "kafka", "localhost", Map.of(), credentials);
    }

    private static void logIn(
            SaslServer server, ScramMechanism mechanism, String password, Nonce nonce)
            throws Exception {
        ScramFormatter formatter = new ScramFormatter(mechanism);
        String own = formatter.secureRandomString();
        ClientFirstMessage first = new ClientFirstMessage("alice", own, Map.of());
        ServerFirstMessage answer = new ServerFirstMessage(server.evaluateResponse(first.toBytes()));
        byte[] header = "n,,".getBytes(StandardCharsets.UTF_8);
        ClientFinalMessage last = new ClientFinalMessage(header, nonce.of(own, answer.nonce()));
        byte[] salted =
                formatter.saltedPassword(password, answer.salt(), answer.iterations());
        last.proof(formatter.clientProof(salted, first, answer, last));
        server.evaluateResponse(last.toBytes());
    }
}
