import com.sun.tools.attach.VirtualMachine;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Map;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** Prints the MBeans, threads and system properties of another JVM, a line each. */
public class Portrait {
    public static void main(String[] arguments) throws Exception {
        VirtualMachine machine = VirtualMachine.attach(arguments[0]);
        JMXServiceURL address = new JMXServiceURL(machine.startLocalManagementAgent());
        for (Map.Entry<Object, Object> property : machine.getSystemProperties().entrySet()) {
            System.out.println("property " + property.getKey() + "=" + property.getValue());
        }
        machine.detach();
        try (JMXConnector connector = JMXConnectorFactory.connect(address)) {
            MBeanServerConnection server = connector.getMBeanServerConnection();
            for (ObjectName name : server.queryNames(null, null)) {
                System.out.println("bean " + name);
            }
            ThreadMXBean threads =
                    ManagementFactory.newPlatformMXBeanProxy(
                            server, ManagementFactory.THREAD_MXBEAN_NAME, ThreadMXBean.class);
            for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
                if (thread != null) {
                    System.out.println("thread " + thread.getThreadName());
                }
            }
        }
    }
}
