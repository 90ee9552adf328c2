package castellan.broker;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.callback.NameCallback;
import javax.security.sasl.SaslException;
import javax.security.sasl.SaslServer;
import org.apache.kafka.common.security.scram.ScramCredential;
import org.apache.kafka.common.security.scram.ScramCredentialCallback;
import org.apache.kafka.common.security.scram.internals.ScramFormatter;
import org.apache.kafka.common.security.scram.internals.ScramMechanism;
import org.apache.kafka.common.security.scram.internals.ScramMessages.ClientFinalMessage;
import org.apache.kafka.common.security.scram.internals.ScramMessages.ClientFirstMessage;
import org.apache.kafka.common.security.scram.internals.ScramMessages.ServerFinalMessage;
import org.apache.kafka.common.security.scram.internals.ScramMessages.ServerFirstMessage;

/**
 * One login by SCRAM. Kafka's own server does all of it, unless the client's last
 * message has the nonce "client, client, server" where it should be "client, server".
 *
 * <p>Such a login is as safe as a right one: the server's nonce is in what the client
 * has signed, so nothing can be replayed, and the proof is checked against the very
 * message that was sent.
 */
final class OldScramServer implements SaslServer {
    private final SaslServer kafka;
    private final ScramMechanism mechanism;
    private final CallbackHandler credentials;

    private ClientFirstMessage clientFirst;
    private ServerFirstMessage serverFirst;
    private boolean letIn;

    OldScramServer(SaslServer kafka, ScramMechanism mechanism, CallbackHandler credentials) {
        this.kafka = kafka;
        this.mechanism = mechanism;
        this.credentials = credentials;
    }

    @Override
    public byte[] evaluateResponse(byte[] response) throws SaslException {
        if (clientFirst == null) {
            byte[] answer = kafka.evaluateResponse(response);
            clientFirst = new ClientFirstMessage(response);
            serverFirst = new ServerFirstMessage(answer);
            return answer;
        }
        ClientFinalMessage last = new ClientFinalMessage(response);
        boolean nonceTwice = last.nonce().equals(clientFirst.nonce() + serverFirst.nonce());
        // Delegation tokens came after the mistake was mended in the clients that use them.
        if (!nonceTwice || clientFirst.extensions().tokenAuthenticated()) {
            return kafka.evaluateResponse(response);
        }
        return check(last);
    }

    private byte[] check(ClientFinalMessage last) throws SaslException {
        try {
            ScramCredential credential = credential();
            ScramFormatter formatter = new ScramFormatter(mechanism);
            byte[] signature =
                    formatter.clientSignature(credential.storedKey(), clientFirst, serverFirst, last);
            byte[] storedKey = formatter.storedKey(signature, last.proof());
            if (!MessageDigest.isEqual(storedKey, credential.storedKey())) {
                throw refused(null);
            }
            byte[] answer =
                    formatter.serverSignature(credential.serverKey(), clientFirst, serverFirst, last);
            letIn = true;
            return new ServerFinalMessage(null, answer).toBytes();
        } catch (GeneralSecurityException e) {
            throw refused(e);
        }
    }

    private ScramCredential credential() throws SaslException {
        String name = ScramFormatter.username(clientFirst.saslName());
        ScramCredentialCallback found = new ScramCredentialCallback();
        try {
            credentials.handle(new Callback[] {new NameCallback("username", name), found});
        } catch (Exception e) {
            throw refused(e);
        }
        if (found.scramCredential() == null) {
            throw refused(null);
        }
        return found.scramCredential();
    }

    /** Kafka tells the client no more than that its credentials are invalid. */
    private static SaslException refused(Exception cause) {
        return new SaslException("Invalid client credentials", cause);
    }

    @Override
    public String getMechanismName() {
        return kafka.getMechanismName();
    }

    @Override
    public boolean isComplete() {
        return letIn || kafka.isComplete();
    }

    @Override
    public String getAuthorizationID() {
        if (!letIn) {
            return kafka.getAuthorizationID();
        }
        return ScramFormatter.username(clientFirst.saslName());
    }

    @Override
    public Object getNegotiatedProperty(String name) {
        // Only tokens have properties, and those are never let in here.
        return letIn ? null : kafka.getNegotiatedProperty(name);
    }

    @Override
    public byte[] unwrap(byte[] incoming, int offset, int length) throws SaslException {
        return kafka.unwrap(incoming, offset, length);
    }

    @Override
    public byte[] wrap(byte[] outgoing, int offset, int length) throws SaslException {
        return kafka.wrap(outgoing, offset, length);
    }

    @Override
    public void dispose() throws SaslException {
        kafka.dispose();
    }
}
