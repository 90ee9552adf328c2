package castellan.broker;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.Resource;
import org.apache.kafka.common.resource.ResourcePattern;
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
 *
 * <p>Who may create on the cluster may make topics of any other name. Kafka asks for that
 * right first and would then look at no name, so it is told no there, and the right counts
 * where Kafka asks about each topic.
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
    /** Creating is among them so that each topic is asked about; see {@link #makesTopic}. */
    private static final Set<AclOperation> BROKERS_OWN =
            EnumSet.of(AclOperation.CLUSTER_ACTION, AclOperation.CREATE, AclOperation.ALTER_CONFIGS);
    private static final Set<Short> SERVICES_OWN =
            Set.of(
                    ApiKeys.UNREGISTER_BROKER.id,
                    ApiKeys.UPDATE_FEATURES.id,
                    ApiKeys.ADD_RAFT_VOTER.id,
                    ApiKeys.REMOVE_RAFT_VOTER.id,
                    ApiKeys.UPDATE_RAFT_VOTER.id);

    /** A client chooses how many names a request has, and could so fill the log. */
    private static final int LOGGED = 10;

    private static final ResourcePattern CLUSTER =
            new ResourcePattern(ResourceType.CLUSTER, Resource.CLUSTER_NAME, PatternType.LITERAL);

    @Override
    public List<AuthorizationResult> authorize(
            AuthorizableRequestContext context, List<Action> actions) {
        if (ListenerPrincipalBuilder.SERVICE.equals(context.principal())) {
            return super.authorize(context, actions);
        }
        List<Action> asked = mayCreate(context, actions) ? onCluster(actions) : actions;
        List<AuthorizationResult> guarded =
                new ArrayList<>(super.authorize(context, withoutMostLines(asked)));
        for (int i = 0; i < actions.size(); i++) {
            if (isRefused(context, actions.get(i))) {
                guarded.set(i, AuthorizationResult.DENIED);
            }
        }
        return guarded;
    }

    /** The same actions, of which the first few alone are told in the log. */
    private static List<Action> withoutMostLines(List<Action> actions) {
        if (actions.size() <= LOGGED) {
            return actions;
        }
        List<Action> asked = new ArrayList<>(actions.subList(0, LOGGED));
        for (Action action : actions.subList(LOGGED, actions.size())) {
            asked.add(
                    new Action(
                            action.operation(),
                            action.resourcePattern(),
                            action.resourceReferenceCount(),
                            false,
                            false));
        }
        return asked;
    }

    /** Whether there are topics to be made, and the caller may create on the cluster. */
    private boolean mayCreate(AuthorizableRequestContext context, List<Action> actions) {
        if (actions.stream().noneMatch(GuardedAuthorizer::makesTopic)) {
            return false;
        }
        // Nobody is refused by this answer, so that the log has nothing of it.
        Action create = new Action(AclOperation.CREATE, CLUSTER, 1, false, false);
        return super.authorize(context, List.of(create)).get(0) == AuthorizationResult.ALLOWED;
    }

    /** Topics to be made are asked for by the right on the cluster, so that the log tells it. */
    private static List<Action> onCluster(List<Action> actions) {
        List<Action> asked = new ArrayList<>(actions);
        asked.replaceAll(
                action ->
                        makesTopic(action)
                                ? new Action(
                                        AclOperation.CREATE,
                                        CLUSTER,
                                        action.resourceReferenceCount(),
                                        action.logIfAllowed(),
                                        action.logIfDenied())
                                : action);
        return asked;
    }

    private static boolean makesTopic(Action action) {
        ResourcePattern pattern = action.resourcePattern();
        return action.operation() == AclOperation.CREATE
                && pattern.resourceType() == ResourceType.TOPIC
                && !pattern.name().startsWith(INTERNAL_TOPICS);
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
