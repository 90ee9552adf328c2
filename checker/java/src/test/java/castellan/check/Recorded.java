package castellan.check;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A log whose lines a test reads, their times left out. */
final class Recorded {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    final EventLog log = new EventLog(bytes);

    Recorded() {
        log.begin();
    }

    /** Lines that begin like this: their words but for the time, which is at this place. */
    List<String> lines(String kind, int timeAt) {
        log.flush();
        return bytes.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith(kind + ' '))
                .map(line -> without(line.split(" "), timeAt))
                .toList();
    }

    private static String without(String[] words, int at) {
        Long.parseLong(words[at]);
        words[at] = "T";
        return String.join(" ", words);
    }
}
