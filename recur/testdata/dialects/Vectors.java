import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Date;
import java.util.Random;
import java.util.TimeZone;
import java.util.function.UnaryOperator;

/**
 * Vectors prints what the cron expressions of Spring and of Quartz mean, one line for each rule, zone and instant: the
 * zone, the rule, the instant, and the next instants of the rule after it ("none" if the rule ends, "refused" if the
 * library does not accept the rule, "fails" if it throws an exception later). README.md has the command.
 */
public class Vectors {
	static final String[] RULES = {
		// Days.
		"0 0 0 13 * FRI", "0 0 0 1-7 * MON", "0 0 0 1,15 * MON", "0 0 0 */2 * 1", "0 0 0 1,15 * */2", "0 0 0 ? * MON-FRI", "0 0 0 ? * 2-6",
		"0 0 0 ? * 1", "0 0 0 ? * 7", "0 0 0 ? * 0", "0 0 0 * * 0", "0 0 0 * * 7", "0 0 0 * * SUN", "0 0 0 ? * SUN-TUE", "0 0 0 ? * FRI-MON", "0 0 0 ? * SAT-SUN",
		"0 0 0 ? * 6-2", "0 0 0 * * 5-7", "0 0 0 * * 0-4", "0 0 0 * * 7-2", "0 0 0 * * */2", "0 0 0 ? * */2", "0 0 0 ? * 1/2", "0 0 0 ? * MON/2", "0 0 0 ? * 2/3", "0 0 0 ? * MON,WED,FRI",
		"0 0 0 * * ?", "0 0 0 ? * *", "0 0 0 * * *", "0 0 0 ? * ?", "0 0 0 1 * ?", "0 0 0 31 * ?", "0 0 0 30-2 * ?", "0 0 0 1/5 * ?", "0 0 0 */10 * ?",
		"0 0 0 29 2 ?", "0 0 0 29 2 *", "0 0 0 30 2 ?", "0 0 0 15 2/3 ?", "0 0 0 1 NOV-FEB ?", "0 0 0 1 JAN,JUL *", "0 0 0 1 */5 *",
		// L and W.
		"0 0 0 L * ?", "0 0 0 L-1 * ?", "0 0 0 L-3 * ?", "0 0 0 L-27 * ?", "0 0 0 L-28 * ?", "0 0 0 L-29 * ?", "0 0 0 L-30 * ?", "0 0 0 LW * ?", "0 0 0 L-1W * ?", "0 0 0 L-3W * ?", "0 0 0 L-5W * ?",
		"0 0 0 1W * ?", "0 0 0 2W * ?", "0 0 0 15W * ?", "0 0 0 28W * ?", "0 0 0 29W * ?", "0 0 0 30W * ?", "0 0 0 31W * ?", "0 0 0 15W 2 ?",
		"0 0 0 ? * L", "0 0 0 ? * 6L", "0 0 0 ? * FRIL", "0 0 0 ? * 1L", "0 0 0 ? * 7L", "0 0 0 * * 5L", "0 0 0 * * SUNL", "0 0 0 * * L",
		"0 0 0 ? * 6#1", "0 0 0 ? * 6#3", "0 0 0 ? * 6#5", "0 0 0 ? * MON#2", "0 0 0 ? * 1#1", "0 0 0 * * 5#2", "0 0 0 * * FRI#5",
		// L and W in lists.
		"0 0 0 1,L * ?", "0 0 0 15,L * ?", "0 0 0 L,15 * ?", "0 0 0 LW,15 * ?", "0 0 0 15,LW * ?", "0 0 0 L-2,1 * ?", "0 0 0 1,L-2 * ?", "0 0 0 L,L-1 * ?", "0 0 0 1W,15W * ?", "0 0 0 15W,20 * ?",
		"0 0 0 20,15W * ?", "0 0 0 1-5,15W * ?", "0 0 0 5W,L * ?", "0 0 0 1,L * *", "0 0 0 ? * 2,6L", "0 0 0 ? * 6L,2", "0 0 0 ? * MONL,FRIL", "0 0 0 ? * L,1", "0 0 0 ? * SAT,SUN,L",
		"0 0 0 ? * 2#1,6#3", "0 0 0 ? * MON#1,FRI", "0 0 0 ? * FRI,MON#1", "0 0 0 * * MON#1,FRI#3", "0 0 0 1W * MON", "0 0 0 L * FRI", "0 0 0 15,L * FRI-SUN",
		// Clock changes.
		"0 30 2 * * ?", "0 30 2 * * *", "0 0 2 * * ?", "0 59 2 * * ?", "0 0 3 * * ?", "0 30 1 * * ?", "0 30 1 * * *", "0 0 1 * * *", "0 0 1 * * ?", "30 30 1 * * ?", "30 30 2 * * *",
		"0 */15 2 * * *", "0 */15 2 * * ?", "0 */15 * * * *", "0 */15 * * * ?", "0 0/30 * * * ?", "0 0 * * * ?", "0 0 */2 * * *", "0 0 */2 * * ?", "0 0 */3 * * ?", "0 30 * * * *", "0 30 */2 * * ?", "0 15,45 1-3 * * ?",
		"0 15,45 1-3 * * *", "0 30 0-3 * * ?", "0 30 2,14 * * ?", "0 30 2 ? * SUN", "0 30 2 * * SUN", "0 30 2 28 3 ?", "0 30 2 28 3 *", "0 30 2 14 3 ?", "0 15 1,2 * * ?", "0 15 1,2 * * *", "0 30 2 L * ?",
		"*/20 30 2 * * *", "0 0/20 1/2 * * ?", "0 10/20 2-3 * * *", "0 45 23 * * *", "0 0 0 28 3 ?", "30 59 1 * * ?",
		// Words, steps, years, mistakes.
		"@daily", "@hourly", "@weekly", "@monthly", "@yearly", "@annually", "@midnight", "@every 5m", "0 0 0 1 * ? 2028", "0 0 0 1 * ? 2027-2029/2", "0 0 0 1 1 ? *", "0 0 0 ? * 6L 2028",
		"0 0/60 * * * ?", "0 */90 * * * *", "0 0 0/25 * * ?", "0 /15 * * * ?", "0 22-2 * * * *", "0 0 22-2 * * ?", "0 0 0 0 * ?", "0 0 0 32 * ?", "0 0 0 * 13 ?", "0 0 0 ? * 8", "0 60 * * * *", "0 0 24 * * *",
		"0 0 0 1 Jan ?", "0 0 0 ? * mon", "0 0 0 ? * Monday", "* * * * * *", "* * * * * ?", "0 * * * *", "0 5-5 * * * *", "0 1-10/3 * * * ?", "0 5/10 * * * *", "0 0 0 L-31 * ?",
	};

	public static void main(String[] args) throws Exception {
		for (String rule : RULES) {
			print(args[0], ZoneId.of("Europe/Prague"), rule);
		}
		Random random = new Random(35);
		for (int i = 0; i < 150; i++) {
			print(args[0], ZoneId.of("America/New_York"), randomRule(random));
		}
	}

	/** randomRule makes a rule in words that both libraries have. */
	static String randomRule(Random r) {
		String day = r.nextInt(3) == 0 ? "*" : randomField(r, 1, 31);
		String weekday = "?";
		if (r.nextInt(2) == 0) {
			day = r.nextInt(3) == 0 ? randomField(r, 1, 31) : "?";
			weekday = randomField(r, 1, 7);
		}
		String hour = r.nextBoolean() ? String.valueOf(1 + r.nextInt(3)) : randomField(r, 0, 23);
		return "0 " + randomField(r, 0, 59) + " " + hour + " " + day + " " + (r.nextInt(4) == 0 ? randomField(r, 1, 12) : "*") + " " + weekday;
	}

	static String randomField(Random r, int low, int high) {
		int a = low + r.nextInt(high - low + 1), b = low + r.nextInt(high - low + 1);
		switch (r.nextInt(7)) {
			case 0: return "*";
			case 1: return "*/" + (1 + r.nextInt(high));
			case 2: return Math.min(a, b) + "-" + Math.max(a, b);
			case 3: return Math.min(a, b) + "," + Math.max(a, b);
			case 4: return a + "/" + (1 + r.nextInt(high));
			default: return String.valueOf(a);
		}
	}

	static void print(String library, ZoneId zone, String rule) throws Exception {
		UnaryOperator<Instant> next;
		try {
			next = library.equals("spring") ? spring(rule, zone) : quartz(rule, zone);
		} catch (IllegalArgumentException | ParseException e) {
			System.out.println(zone + " | " + rule + " | refused");
			return;
		}
		Instant from = Instant.parse("2027-02-27T12:00:00Z");
		line(zone, rule, from, next, 4);
		for (int i = 0; i < 2; i++) { // before each change of the clock
			from = zone.getRules().nextTransition(from).getInstant();
			line(zone, rule, from.minus(Duration.ofMinutes(100)), next, 6);
		}
	}

	static void line(ZoneId zone, String rule, Instant from, UnaryOperator<Instant> next, int count) {
		StringBuilder line = new StringBuilder(zone + " | " + rule + " | " + from + " |");
		Instant at = from;
		for (int i = 0; i < count && at != null; i++) {
			try {
				at = next.apply(at);
			} catch (RuntimeException e) {
				System.out.println(line + " fails");
				return;
			}
			line.append(at == null ? " none" : " " + at);
		}
		System.out.println(line);
	}

	static UnaryOperator<Instant> spring(String rule, ZoneId zone) {
		var expression = org.springframework.scheduling.support.CronExpression.parse(rule);
		return at -> {
			var next = expression.next(at.atZone(zone));
			return next == null ? null : next.toInstant();
		};
	}

	static UnaryOperator<Instant> quartz(String rule, ZoneId zone) throws ParseException {
		var expression = new org.quartz.CronExpression(rule);
		expression.setTimeZone(TimeZone.getTimeZone(zone));
		return at -> {
			Date next = expression.getNextValidTimeAfter(Date.from(at));
			return next == null ? null : next.toInstant();
		};
	}
}
