package castellan.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RevokedSerialsTest {
    @TempDir Path directory;

    @Test
    void noFileRevokesNothing() throws IOException {
        assertEquals(Set.of(), RevokedSerials.read(directory.resolve("revoked-serials")));
    }

    @Test
    void everySerialOfTheFileIsRevoked() throws IOException {
        Path file = Files.write(directory.resolve("revoked-serials"), List.of("0a", "ff10"));
        RevokedSerials revoked = new RevokedSerials(file);
        assertTrue(revoked.contains(BigInteger.valueOf(0x0a)));
        assertTrue(revoked.contains(BigInteger.valueOf(0xff10)));
        assertFalse(revoked.contains(BigInteger.valueOf(0x0b)));
    }

    /** One damaged line must not let in all the others. */
    @Test
    void aLineThatIsNoSerialIsSkipped() throws IOException {
        Path file = Files.write(directory.resolve("revoked-serials"), List.of("", "not hex", "7f"));
        assertEquals(Set.of(BigInteger.valueOf(0x7f)), RevokedSerials.read(file));
    }
}
