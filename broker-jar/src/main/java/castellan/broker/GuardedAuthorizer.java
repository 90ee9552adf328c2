package castellan.broker;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

/**
 * Kafka's own authorizer, with what no customer may do whatever the ACLs say.
 *
 * <p>A customer may alter ACLs, so an ACL can't guard anything against the customer.
 * What belongs to the cluster itself is refused here: changes to Kafka's own topics, a
 * broker's rights, and calls that take servers out of the cluster or bind it to a
 * release, which are the service's to make.
 */
public final class GuardedAuthorizer extends StandardAuthorizer {
    private static final String INTERNAL_TOPICS = "__";
    private static final Set<AclOperation> CHANGES =
            EnumSet.of(
                    AclOperation.WRITE,
                    AclOperation.CREATE,
                    AclOperation.DELETE,
                    AclOperation.ALTER,
                    AclOperation.ALTER_CONFIGS);
    /** Creating is asked of the cluster first and of the topic second; ours is the second. */
    private static final Set<AclOperation> BROKERS_OWN =
            EnumSet.of(AclOperation.CLUSTER_ACTION, AclOperation.CREATE, AclOperation.ALTER_CONFIGS);
    private static final Set<Short> SERVICES_OWN =
            Set.of(
                    ApiKeys.UNREGISTER_BROKER.id,
                    ApiKeys.UPDATE_FEATURES.id,
                    ApiKeys.ADD_RAFT_VOTER.id,
                    ApiKeys.REMOVE_RAFT_VOTER.id,
                    ApiKeys.UPDATE_RAFT_VOTER.id);

    @Override
    public List<AuthorizationResult> authorize(
            AuthorizableRequestContext context, List<Action> actions) {
        List<AuthorizationResult> results = super.authorize(context, actions);
        if (ListenerPrincipalBuilder.SERVICE.equals(context.principal())) {
            return results;
        }
        List<AuthorizationResult> guarded = new ArrayList<>(results);
        for (int i = 0; i < actions.size(); i++) {
            if (isRefused(context, actions.get(i))) {
                guarded.set(i, AuthorizationResult.DENIED);
            }
        }
        return guarded;
    }

    private static boolean isRefused(AuthorizableRequestContext context, Action action) {
        ResourceType type = action.resourcePattern().resourceType();
        AclOperation operation = action.operation();
        if (type == ResourceType.TOPIC) {
            return CHANGES.contains(operation)
                    && action.resourcePattern().name().startsWith(INTERNAL_TOPICS);
        }
        return type == ResourceType.CLUSTER
                && (BROKERS_OWN.contains(operation)
                        || SERVICES_OWN.contains((short) context.requestType()));
    }
}
