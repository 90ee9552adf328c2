package castellan.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.junit.jupiter.api.Test;

class ListenerPrincipalBuilderTest {
    @Test
    void aCertificateWithOneCommonNameIsThatUser() {
        check("CN=orders", "orders");
        check("CN=orders,OU=payments,O=Example", "orders");
        check("cn=orders", "orders");
        check("CN=a\\,b", "a,b");
    }

    /** The whole name can't be given rights by anybody who means one of its parts. */
    @Test
    void aNameThatIsNotClearIsTakenWhole() {
        check("CN=orders,CN=admin", "CN=orders,CN=admin");
        check("CN=orders+OU=x", "CN=orders+OU=x");
        check("O=Example", "O=Example");
        check("no name at all", "no name at all");
        check("", "");
    }

    @Test
    void theServiceIsNoUser() {
        KafkaPrincipal service = ListenerPrincipalBuilder.SERVICE;
        assertEquals("Service", service.getPrincipalType());
        ListenerPrincipalBuilder builder = new ListenerPrincipalBuilder();
        assertEquals(service, builder.deserialize(builder.serialize(service)));
    }

    private static void check(String distinguishedName, String expected) {
        assertEquals(expected, ListenerPrincipalBuilder.userName(distinguishedName));
    }
}
