# Writes what Fugit makes of each phrase of the standard input: the phrase, its cron fields, and four instants after each of
# two starts, which are close to changes of the clock of Europe/Prague. That zone is the zone of phrases without a zone.
# Run it with: ruby vectors.rb < phrases > vectors.txt
require "fugit"
STDIN.each_line(chomp: true) do |phrase|
  cron = begin Fugit.parse(phrase, multi: :fail) rescue nil end
  if cron.is_a?(Fugit::Cron)
    text = cron.to_cron_s
    cron = Fugit.parse("#{text} Europe/Prague") unless cron.zone
    instants = ["2027-03-27 12:00:00 UTC", "2027-10-30 12:00:00 UTC"].flat_map do |start|
      at = EtOrbi.parse(start)
      4.times.map { (at = cron.next_time(at)).utc.strftime("%Y-%m-%dT%H:%M:%SZ") }
    end
    puts [phrase, text, instants.join(" ")].join("\t")
  else
    puts [phrase, "none"].join("\t")
  end
end
