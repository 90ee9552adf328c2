package castellan.check;

import java.util.concurrent.locks.LockSupport;

/** When the next record is due: evenly, and who is late hurries unless forgiven. */
final class Pace {
    private final long every;
    private long due = System.nanoTime();

    Pace(double perSecond) {
        every = (long) (1e9 / perSecond);
    }

    void await() {
        for (long early = due - System.nanoTime(); early > 0; early = due - System.nanoTime()) {
            LockSupport.parkNanos(early);
        }
        due += every;
    }

    void forgive() {
        due = Math.max(due, System.nanoTime());
    }
}
