package castellan.broker;

import java.lang.reflect.Method;

/** What Kafka has no public way to: some of it is private, some has moved between releases. */
final class Internals {
    private Internals() {}

    /** What the method of that name returns, which has no parameters. */
    static Object get(Object from, String name) throws ReflectiveOperationException {
        for (Class<?> type = from.getClass(); type != null; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                if (method.getName().equals(name) && method.getParameterCount() == 0) {
                    method.setAccessible(true);
                    return method.invoke(from);
                }
            }
        }
        throw new NoSuchMethodException(from.getClass().getName() + "." + name);
    }
}
