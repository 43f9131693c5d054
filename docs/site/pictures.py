#!/usr/bin/env python3
"""Draws the pictures of docs/images/*.svg that are made of boxes, arrows and bars. Run it after a change, from any folder."""

import os

IMAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "images")
INK, SOFT, BLUE, GREEN, RED, GOLD = "#1f2933", "#9aa5b1", "#3e7cb1", "#3a8f5d", "#b94a48", "#c98a1b"


class Picture:
    """A picture on a white ground, which can be read on dark pages too."""

    def __init__(self, width, height, title):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
            f'font-family="Helvetica, Arial, sans-serif" font-size="13" aria-label="{title}">',
            f"<title>{title}</title>",
            '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse">'
            f'<path d="M0 0 10 5 0 10z" fill="{INK}"/></marker></defs>',
            f'<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>',
        ]

    def text(self, x, y, text, anchor="start", color=INK, weight="normal"):
        self.parts.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{color}" font-weight="{weight}">{text}</text>')

    def box(self, x, y, width, text, color=BLUE, second=""):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="40" rx="8" fill="{color}"/>')
        self.text(x + width / 2, y + (18 if second else 25), text, "middle", "#ffffff", "bold")
        if second:
            self.text(x + width / 2, y + 33, second, "middle", "#ffffff")

    def arrow(self, path, text="", x=0, y=0, anchor="middle"):
        self.parts.append(f'<path d="{path}" fill="none" stroke="{INK}" stroke-width="1.4" marker-end="url(#tip)"/>')
        if text:
            self.text(x, y, text, anchor)

    def line(self, x, y, to_x, to_y, color=SOFT, dash=""):
        self.parts.append(f'<line x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}" stroke="{color}" stroke-dasharray="{dash}"/>')

    def bar(self, x, y, width, color=BLUE, text=""):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="18" rx="4" fill="{color}"/>')
        if text:
            self.text(x + width / 2, y + 13, text, "middle", "#ffffff")

    def save(self, name):
        with open(os.path.join(IMAGES, name), "w", encoding="utf-8") as file:
            file.write("\n".join(self.parts) + "\n</svg>\n")


def job():
    p = Picture(800, 330, "The life of a job")
    p.box(30, 60, 130, "waiting", GOLD, "for other jobs")
    p.box(270, 60, 130, "ready", BLUE, "due at run_at")
    p.box(520, 60, 130, "running", BLUE, "one attempt")
    p.box(30, 250, 130, "not_started", SOFT)
    p.box(270, 250, 130, "cancelled", SOFT)
    p.box(450, 250, 130, "failed", RED)
    p.box(630, 250, 130, "completed", GREEN)
    p.text(20, 30, "enqueue, slot, trigger, hook", weight="bold")
    p.arrow("M95 38 V58")
    p.arrow("M220 26 H335 V58")
    p.arrow("M160 80 H268", "released", 214, 73)
    p.arrow("M400 72 H518", "claim: a new token", 459, 65)
    p.arrow("M560 60 C560 15 340 15 340 58")
    p.text(455, 22, "an error with attempts left, snooze, release, lost node", "middle")
    p.arrow("M95 100 V248", "another end", 102, 180, "start")
    p.arrow("M140 100 L300 248", "cancel", 222, 160, "start")
    p.arrow("M335 100 V248", "cancel", 342, 200, "start")
    p.arrow("M560 100 L380 248")
    p.arrow("M580 100 L520 248", "no attempt left, Fail", 548, 215, "start")
    p.arrow("M630 100 L695 248", "nil", 668, 150, "start")
    p.text(20, 318, "The lower row is in history, until it has been kept long enough. A retry by hand makes such a job ready again.", color=INK)
    p.save("life-of-a-job.svg")


def slot():
    p = Picture(800, 250, "The life of a slot")
    p.box(20, 20, 220, "an instant of the rule", GOLD)
    p.arrow("M240 40 H298")
    p.box(300, 20, 220, "due, by the store's clock", BLUE)
    p.arrow("M340 60 V98", "", 0, 0)
    p.text(348, 76, "found within the grace (1 min),")
    p.text(348, 91, "or made up for by misfire")
    p.box(300, 100, 220, "fired", GREEN, "its job is inserted with it")
    p.arrow("M302 52 C200 70 150 100 150 178")
    p.text(20, 112, "pause, calendar,")
    p.text(20, 128, "overlap, gap")
    p.box(20, 180, 180, "skipped", SOFT, "with the reason")
    p.arrow("M520 52 C640 60 690 90 690 178")
    p.text(680, 130, "found later, misfire: skip", "end")
    p.box(600, 180, 180, "missed", RED, "with the reason")
    p.text(300, 195, "Each instant has one of these records, once:")
    p.text(300, 212, "firing compares the schedule's mark and")
    p.text(300, 229, "revision, and the loser of a race writes nothing.")
    p.save("life-of-a-slot.svg")


def overlap():
    p = Picture(800, 300, "What a slot does while the job of the slot before it runs")
    at = [160, 300, 440, 580, 720]
    for i, x in enumerate(at):
        p.text(x, 22, f"{i}:00", "middle", weight="bold")
        p.line(x, 30, x, 285, dash="3 4")
    rows = [
        ("skip", "the default", [(160, 230, BLUE, "0:00")], [(300, "1:00 skipped")], [(440, 100, BLUE, "2:00"), (580, 100, BLUE, "3:00")]),
        ("queue", "one waits", [(160, 230, BLUE, "0:00"), (391, 100, BLUE, "1:00"), (492, 80, BLUE, "2:00")], [], [(580, 100, BLUE, "3:00")]),
        ("allow", "both run", [(160, 230, BLUE, "0:00")], [], [(440, 100, BLUE, "2:00"), (580, 100, BLUE, "3:00")]),
        ("replace", "the newer one wins", [(160, 138, RED, "0:00 cancelled")], [], [(300, 100, BLUE, "1:00"), (440, 100, BLUE, "2:00"), (580, 100, BLUE, "3:00")]),
    ]
    for i, (name, about, first, marks, more) in enumerate(rows):
        y = 46 + i * 62
        p.text(12, y + 14, name, weight="bold")
        p.text(12, y + 30, about, color=SOFT)
        for x, width, color, text in first + more:
            p.bar(x, y, width, color, text)
        for x, text in marks:
            p.text(x + 4, y + 36, text, color=GOLD)
        if name == "allow":
            p.bar(300, y + 21, 100, BLUE, "1:00")
    p.save("overlap.svg")


def misfire():
    p = Picture(800, 250, "What becomes of slots while no node lives")
    at = [150, 250, 350, 450, 550, 650, 750]
    p.parts.append('<rect x="210" y="30" width="290" height="205" fill="#f3e3d0"/>')
    p.text(355, 228, "no node lives", "middle", GOLD)
    for i, x in enumerate(at):
        p.text(x, 22, f"{i}:00", "middle", weight="bold")
        p.line(x, 30, x, 235, dash="3 4")
    rows = [
        ("skip", "the default", [], ["1:00, 2:00 and 3:00 are missed"]),
        ("once", "the newest", [(505, 26, "3:00")], ["1:00 and 2:00 are missed"]),
        ("all", "one after the other", [(503, 14, "1:00"), (518, 14, "2:00"), (533, 14, "3:00")], []),
    ]
    for i, (name, about, made_up, notes) in enumerate(rows):
        y = 44 + i * 60
        p.text(12, y + 14, name, weight="bold")
        p.text(12, y + 30, about, color=SOFT)
        p.bar(150, y, 30, BLUE)
        for x, width, text in made_up:
            p.bar(x, y + 22, width, GREEN)
            p.text(x + width / 2, y + 36, text[0], "middle", "#ffffff")
        for j, x in enumerate(at[4:]):
            p.bar(x, y, 30, BLUE)
        for text in notes:
            p.text(222, y + 14, text, color=RED)
    p.save("misfire.svg")


if __name__ == "__main__":
    job()
    slot()
    overlap()
    misfire()
