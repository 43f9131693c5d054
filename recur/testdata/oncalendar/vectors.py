"""vectors prints what systemd means by calendar events: one line for each, with the expression, an instant, and the first
20 elapses after it (seconds of Unix time, then differences), or "refused". It runs `systemd-analyze calendar`, with TZ=UTC.

    python3 vectors.py > vectors.txt
"""
import calendar
import os
import random
import re
import subprocess
import time

HAND = """
minutely|hourly|daily|weekly|monthly|quarterly|yearly|annually|semiannually|bi-annually|Weekly|anually
Mon..Fri *-*-1..7 09:30:00 Europe/Prague|Mon|mon,Wed,fri|Sat,Sun 12:05|Monday|Mon..Wed,Sat|Fri..Mon|Sun..Tue|Mon-Fri 8:00
*-*~1|*-*~3|*-02~03|Mon *-05~07/1|*-*~1..7|*-*~7..1|*-*~10/3|*-*~28..20/2|*-02~28|*-02~29|*-*~31|*-*~0
12-25|2028-02-29|*-2-29|2027..2030-01-01|*-1/3-1|*-01,07-15|*-*-1/5|*-*-10..20/4 6:00|2028/2-1-1|*/2-1-1|*-*-*|2027-*-*
05:40|*:0/15|8..17:00|00/2:00|*:*|*:*:*|*:*:00/20|1:2:3|23:59:59|*-*-* 2:30|*:30|12,18:15,45|0/6:10/25:5|24:00|12:60|12:00:60
*-*-* 02:30 Europe/Prague|*-*-* *:00/15 Europe/Prague|Sun 02:30 America/New_York|*-*-* 01:30 America/New_York|hourly Europe/Prague|*:0/20 America/New_York
00/2:00 Europe/Prague|*-*-* 00:00 Europe/Prague|*-3-28 2..3:15 Europe/Prague|daily UTC|*:0/30 UTC|*-10-31 1..3:0/30 Europe/Prague|*-03-28 02:30 Europe/Prague
Foo|13-1|*-*-32|*-*-0|Mon,|,Mon|1:2:3:4|*-*-*-*|Mon *-*-13|Fri *-*-13 12:00|Mon *-*-1..7|2025-1-1|1999-1-1|*-*-1..7/7|12:00/70|*-*-5..3
*-*-31|*-4-31|*-2-30|2027-2-29..31|*-*-1,L|Sat *-*~7/1 18:00:00|*-1..11/2-1..3 0:0:0|Thu,Fri 2028-*-1,5 11:12:13|2027-12-31T10:00
""".strip().replace("\n", "|").split("|")

BASES = ["2027-02-27 12:00:00", "2027-03-27 23:20:00", "2027-10-30 23:20:00", "2027-03-14 05:20:00", "2027-11-07 04:20:00"]
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


def field(r, low, high, digits=1):
    a, b = r.randint(low, high), r.randint(low, high)
    number = lambda n: "%0*d" % (r.choice([1, digits]), n)
    kind = r.randrange(8)
    if kind < 2:
        return "*"
    if kind == 2:
        return number(min(a, b)) + ".." + number(max(a, b))
    if kind == 3:
        return number(min(a, b)) + ".." + number(max(a, b)) + "/%d" % r.randint(1, 5)
    if kind == 4:
        return number(a) + "/%d" % r.randint(1, max(2, (high - low) // 2))
    if kind == 5:
        return number(a) + "," + number(b)
    return number(a)


def expression(r):
    parts = []
    if r.randrange(3) == 0:
        a, b = sorted(r.sample(range(7), 2))
        parts.append(r.choice([DAYS[a], DAYS[a] + ".." + DAYS[b], DAYS[a] + "," + DAYS[b]]))
    if r.randrange(3) > 0:
        year = r.choice(["*-", "", "*-", "2027..2029-", "2028/2-", "2027,2030-"])
        parts.append(year + field(r, 1, 12, 2) + r.choice(["-", "-", "~"]) + field(r, 1, 28 if r.randrange(4) else 31, 2))
    if r.randrange(4) > 0 or not parts:
        seconds = r.choice(["", "", "", ":" + field(r, 0, 59, 2)])
        hours = field(r, 1, 3, 2) if r.randrange(3) == 0 else field(r, 0, 23, 2)
        parts.append(hours + ":" + field(r, 0, 59, 2) + seconds)
    parts.append(r.choice(["", "Europe/Prague", "America/New_York", "UTC", "Asia/Tokyo"]))
    return " ".join(parts).strip()


def elapses(text, base):
    """The elapses that systemd prints for one expression."""
    times = re.findall(r"(?:Next elapse|Iter\. #\d+): \w+ (\S+ \S+) UTC", text)
    return [calendar.timegm(time.strptime(t, "%Y-%m-%d %H:%M:%S")) for t in times]


def main():
    r = random.Random(35)
    expressions = HAND + [expression(r) for _ in range(2000)]
    for i, one in enumerate(expressions):
        base = BASES[i % len(BASES)]
        if i < len(HAND) and "Europe" in one:
            base = BASES[1 + i % 2]
        run = subprocess.run(["systemd-analyze", "calendar", "--iterations=20", "--base-time=" + base + " UTC", "--", one],
                             capture_output=True, text=True, env=dict(os.environ, TZ="UTC", LC_ALL="C"))
        if run.returncode:
            print(one, "|", base, "| refused", flush=True)
            continue
        at, answer = 0, []
        for t in elapses(run.stdout, base):
            answer.append(str(t - at))
            at = t
        print(one, "|", base, "|", " ".join(answer + (["none"] if len(answer) < 20 else [])), flush=True)


main()
