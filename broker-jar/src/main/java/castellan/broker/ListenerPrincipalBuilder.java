package castellan.broker;

import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Set;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.apache.kafka.common.errors.SslAuthenticationException;
import org.apache.kafka.common.security.auth.AuthenticationContext;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.KafkaPrincipalBuilder;
import org.apache.kafka.common.security.auth.KafkaPrincipalSerde;
import org.apache.kafka.common.security.auth.SslAuthenticationContext;
import org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder;

/**
 * Says who a connection is, by the listener it came in on.
 *
 * <p>The super user has a principal type of its own that only the internal listeners
 * give. Were it a {@code User}, whoever may create SCRAM users or have a certificate
 * signed could make one of the same name and own the cluster.
 *
 * <p>Kafka asks for every request anew. So a connection whose certificate is revoked while
 * it is open ends with its next request, and a resumed TLS session, in which no certificate
 * is checked, does not get past its first.
 */
public final class ListenerPrincipalBuilder implements KafkaPrincipalBuilder, KafkaPrincipalSerde {
    static final KafkaPrincipal SERVICE = new KafkaPrincipal("Service", "castellan");
    private static final Set<String> INTERNAL = Set.of("INTERNAL", "CONTROLLER");
    /** One for all: Kafka makes a builder for each connection. */
    private static volatile RevokedSerials revoked;

    private final DefaultKafkaPrincipalBuilder kafka = new DefaultKafkaPrincipalBuilder(null, null);

    @Override
    public KafkaPrincipal build(AuthenticationContext context) {
        if (!(context instanceof SslAuthenticationContext ssl)) {
            return kafka.build(context);
        }
        try {
            X509Certificate peer = (X509Certificate) ssl.session().getPeerCertificates()[0];
            if (INTERNAL.contains(ssl.listenerName())) {
                return SERVICE;
            }
            if (revoked().contains(peer.getSerialNumber())) {
                throw new SslAuthenticationException("The client's certificate is revoked");
            }
            String name = userName(peer.getSubjectX500Principal().getName());
            return new KafkaPrincipal(KafkaPrincipal.USER_TYPE, name);
        } catch (SSLPeerUnverifiedException e) {
            return KafkaPrincipal.ANONYMOUS;
        }
    }

    private static RevokedSerials revoked() {
        RevokedSerials known = revoked;
        if (known == null) {
            // Two threads may make one each, which say the same.
            known = new RevokedSerials(ServerDirectory.resolve(RevokedSerials.FILE));
            revoked = known;
        }
        return known;
    }

    /** The list of another server is read anew. */
    static void forget() {
        revoked = null;
    }

    @Override
    public byte[] serialize(KafkaPrincipal principal) {
        return kafka.serialize(principal);
    }

    @Override
    public KafkaPrincipal deserialize(byte[] bytes) {
        return kafka.deserialize(bytes);
    }

    /** The common name, if there is exactly one; else the whole name, which has no rights. */
    static String userName(String distinguishedName) {
        try {
            List<String> names =
                    new LdapName(distinguishedName)
                            .getRdns().stream()
                                    .filter(rdn -> rdn.size() == 1)
                                    .filter(rdn -> rdn.getType().equalsIgnoreCase("CN"))
                                    .map(Rdn::getValue)
                                    .filter(String.class::isInstance)
                                    .map(String.class::cast)
                                    .toList();
            return names.size() == 1 ? names.get(0) : distinguishedName;
        } catch (InvalidNameException e) {
            return distinguishedName;
        }
    }
}
