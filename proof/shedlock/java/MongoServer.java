import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * A MongoDB server for tests, in memory, until it is killed: {@code MongoServer PORT}. It prints a line when it listens on
 * 127.0.0.1.
 */
public class MongoServer {
    public static void main(String[] args) {
        var backend = new MemoryBackend().version(new Version());
        var server = new de.bwaldvogel.mongo.MongoServer(backend);
        server.bind(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])));
        System.out.println("listening");
    }

    /** The oldest protocol version that current drivers accept; the library's constants end before it. */
    private static class Version implements MongoVersion {
        @Override
        public List<Integer> getVersionArray() {
            return List.of(4, 4, 0);
        }

        @Override
        public int getWireVersion() {
            return 9;
        }
    }
}
