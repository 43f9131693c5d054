import com.mongodb.client.MongoClients;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.mongo.MongoLockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/**
 * A program that uses ShedLock, as the other side of the race. It executes the orders on its standard input, one per line
 * with fields separated by tabs, and answers each with a line: ok, granted, held, or "error" and the cause. Orders begin
 * with a number, and so do their answers.
 *
 * <pre>
 * open   PROVIDER KIND URL USER PASSWORD SPACE         KIND is sql, sql-dbtime, mongo, redis or redis-safe
 * lock   PROVIDER NAME AT-MOST AT-LEAST WHEN FILE      in ms; WHEN in µs since 1970; FILE, if given: increment its number
 * unlock PROVIDER                                      the lock that was granted last
 * count  PROVIDER NAME AT-MOST TIMES FILE              lock, increment and unlock TIMES times
 * </pre>
 */
public class Rival {
    private final Map<String, LockProvider> providers = new HashMap<>();
    private final Map<String, SimpleLock> locks = new HashMap<>();

    public static void main(String[] args) throws IOException {
        var rival = new Rival();
        var orders = new BufferedReader(new InputStreamReader(System.in));
        for (var line = orders.readLine(); line != null; line = orders.readLine()) {
            var parts = line.split("\t", 2); // its number, and the order itself
            String answer;
            try {
                answer = rival.follow(parts[1].split("\t", -1));
            } catch (Exception e) {
                answer = "error " + Stream.<Throwable>iterate(e, Objects::nonNull, Throwable::getCause).toList();
            }
            System.out.println(parts[0] + "\t" + answer.replace('\n', ' '));
        }
        System.exit(0); // because the drivers' own threads would keep the process alive
    }

    private String follow(String[] order) throws Exception {
        var provider = order[1];
        switch (order[0]) {
            case "open":
                providers.put(provider, open(order[2], order[3], order[4], order[5], order[6]));
                return "ok";
            case "lock":
                awaitMicros(Long.parseLong(order[5]));
                var lock = tryLock(provider, order[2], ms(order[3]), ms(order[4]));
                if (lock.isPresent() && !order[6].isEmpty()) {
                    raise(Path.of(order[6]));
                }
                lock.ifPresent(granted -> locks.put(provider, granted));
                return lock.isPresent() ? "granted" : "held";
            case "unlock":
                locks.get(provider).unlock();
                return "ok";
            case "count":
                count(provider, order[2], ms(order[3]), Integer.parseInt(order[4]), Path.of(order[5]));
                return "ok";
            default:
                return "error unknown order";
        }
    }

    private static LockProvider open(String kind, String url, String user, String password, String space) {
        switch (kind) {
            case "sql":
            case "sql-dbtime":
                var source = new SingleConnectionDataSource(url, user, password, true);
                var config = JdbcTemplateLockProvider.Configuration.builder().withJdbcTemplate(new JdbcTemplate(source));
                config = kind.equals("sql") ? config.forceUtcTimeZone() : config.usingDbTime();
                return new JdbcTemplateLockProvider(config.build());
            case "mongo":
                return new MongoLockProvider(MongoClients.create(url).getDatabase(space));
            default:
                return new RedisLockProvider.Builder(redis(URI.create(url), password))
                        .environment(space)
                        .safeUpdate(kind.equals("redis-safe"))
                        .build();
        }
    }

    private static JedisConnectionFactory redis(URI url, String password) {
        var config = new RedisStandaloneConfiguration(url.getHost(), url.getPort());
        config.setPassword(password);
        var factory = new JedisConnectionFactory(config);
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    private Optional<SimpleLock> tryLock(String provider, String name, Duration atMost, Duration atLeast) {
        return providers.get(provider).lock(new LockConfiguration(Instant.now(), name, atMost, atLeast));
    }

    private void count(String provider, String name, Duration atMost, int times, Path file) throws Exception {
        for (var done = 0; done < times; ) {
            var lock = tryLock(provider, name, atMost, Duration.ZERO);
            if (lock.isEmpty()) {
                Thread.sleep(1);
                continue;
            }
            raise(file);
            lock.get().unlock();
            done++;
        }
    }

    /** Adds one to the number in a file, slowly enough that a concurrent increment would be lost. */
    private static void raise(Path file) throws Exception {
        var number = Long.parseLong(Files.readString(file));
        Thread.sleep(0, 50_000);
        Files.writeString(file, Long.toString(number + 1));
    }

    /** Sleeps, and then polls the clock, because sleep may return late. */
    private static void awaitMicros(long when) throws InterruptedException {
        var left = when - micros();
        if (left > 1_500) {
            Thread.sleep((left - 1_000) / 1_000);
        }
        while (micros() < when) {
            Thread.onSpinWait();
        }
    }

    private static long micros() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    private static Duration ms(String text) {
        return Duration.ofMillis(Long.parseLong(text));
    }
}
