package castellan.broker;

import static org.apache.kafka.server.authorizer.AuthorizationResult.ALLOWED;
import static org.apache.kafka.server.authorizer.AuthorizationResult.DENIED;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.Resource;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A user who has every right by ACL still may not touch what belongs to the cluster. */
class GuardedAuthorizerTest {
    private static final KafkaPrincipal OWNER = new KafkaPrincipal("User", "owner");
    private static final KafkaPrincipal STRANGER = new KafkaPrincipal("User", "stranger");

    private final GuardedAuthorizer authorizer = new GuardedAuthorizer();

    @BeforeEach
    void giveTheOwnerEveryRight() {
        authorizer.configure(Map.of("super.users", "Service:castellan"));
        allow(ResourceType.TOPIC, "*");
        allow(ResourceType.GROUP, "*");
        allow(ResourceType.CLUSTER, Resource.CLUSTER_NAME);
        authorizer.completeInitialLoad();
    }

    @Test
    void changesToInternalTopicsAreDenied() {
        for (AclOperation change :
                List.of(
                        AclOperation.WRITE,
                        AclOperation.CREATE,
                        AclOperation.DELETE,
                        AclOperation.ALTER,
                        AclOperation.ALTER_CONFIGS)) {
            assertEquals(DENIED, onTopic(OWNER, change, "__consumer_offsets"), change.name());
            assertEquals(ALLOWED, onTopic(OWNER, change, "orders"), change.name());
        }
        assertEquals(ALLOWED, onTopic(OWNER, AclOperation.READ, "__consumer_offsets"));
        assertEquals(ALLOWED, onTopic(OWNER, AclOperation.DESCRIBE, "__consumer_offsets"));
    }

    @Test
    void brokerRightsAreDenied() {
        assertEquals(DENIED, onCluster(OWNER, AclOperation.CLUSTER_ACTION, ApiKeys.FETCH));
        assertEquals(
                DENIED,
                onCluster(OWNER, AclOperation.ALTER_CONFIGS, ApiKeys.INCREMENTAL_ALTER_CONFIGS));
        assertEquals(ALLOWED, onCluster(OWNER, AclOperation.ALTER, ApiKeys.CREATE_ACLS));
    }

    @Test
    void callsThatTakeServersOutOfTheClusterAreDenied() {
        for (ApiKeys call :
                List.of(
                        ApiKeys.UNREGISTER_BROKER,
                        ApiKeys.UPDATE_FEATURES,
                        ApiKeys.ADD_RAFT_VOTER,
                        ApiKeys.REMOVE_RAFT_VOTER)) {
            assertEquals(DENIED, onCluster(OWNER, AclOperation.ALTER, call), call.name);
        }
    }

    /** Kafka asks for the right on the cluster first; the name of each topic must still count. */
    @Test
    void createOnTheClusterGivesTopicsButNotInternalOnes() {
        assertEquals(DENIED, onCluster(OWNER, AclOperation.CREATE, ApiKeys.CREATE_TOPICS));
        assertEquals(ALLOWED, onTopic(OWNER, AclOperation.CREATE, "orders"));
        assertEquals(DENIED, onTopic(OWNER, AclOperation.CREATE, "__mine"));
    }

    @Test
    void theServiceMayDoEverythingAndAStrangerNothing() {
        KafkaPrincipal service = ListenerPrincipalBuilder.SERVICE;
        assertEquals(ALLOWED, onTopic(service, AclOperation.WRITE, "__consumer_offsets"));
        assertEquals(ALLOWED, onCluster(service, AclOperation.CLUSTER_ACTION, ApiKeys.FETCH));
        assertEquals(DENIED, onTopic(STRANGER, AclOperation.READ, "orders"));
        assertEquals(DENIED, onTopic(STRANGER, AclOperation.CREATE, "orders"));
    }

    /** A user called like the service is a user. */
    @Test
    void aUserWithTheServicesNameIsNoSuperUser() {
        KafkaPrincipal impostor = new KafkaPrincipal("User", "castellan");
        assertEquals(DENIED, onCluster(impostor, AclOperation.CLUSTER_ACTION, ApiKeys.FETCH));
    }

    private void allow(ResourceType type, String name) {
        StandardAcl acl =
                new StandardAcl(
                        type,
                        name,
                        PatternType.LITERAL,
                        OWNER.toString(),
                        "*",
                        AclOperation.ALL,
                        AclPermissionType.ALLOW);
        authorizer.addAcl(Uuid.randomUuid(), acl);
    }

    private AuthorizationResult onTopic(KafkaPrincipal who, AclOperation operation, String name) {
        return ask(who, ApiKeys.METADATA, operation, ResourceType.TOPIC, name);
    }

    private AuthorizationResult onCluster(KafkaPrincipal who, AclOperation operation, ApiKeys call) {
        return ask(who, call, operation, ResourceType.CLUSTER, Resource.CLUSTER_NAME);
    }

    private AuthorizationResult ask(
            KafkaPrincipal who, ApiKeys call, AclOperation operation, ResourceType type, String name) {
        ResourcePattern pattern = new ResourcePattern(type, name, PatternType.LITERAL);
        Action action = new Action(operation, pattern, 1, false, false);
        return authorizer.authorize(new Request(who, call.id), List.of(action)).get(0);
    }

    private record Request(KafkaPrincipal principal, int requestType)
            implements AuthorizableRequestContext {
        @Override
        public String listenerName() {
            return "SASL_SSL";
        }

        @Override
        public SecurityProtocol securityProtocol() {
            return SecurityProtocol.SASL_SSL;
        }

        @Override
        public InetAddress clientAddress() {
            return InetAddress.getLoopbackAddress();
        }

        @Override
        public int requestVersion() {
            return 0;
        }

        @Override
        public String clientId() {
            return "test";
        }

        @Override
        public int correlationId() {
            return 1;
        }
    }
}
