# One cell of studies/bulk_throughput/ns2_35.csv: ns bulk.tcl BANDWIDTH_MBIT RTT_MS FACTOR WINDOW FLOWS [THRESHOLD] [SINK]
# THRESHOLD is "window" (the default) or "20": what ns-2 starts with if windows are set when its agents are reset, as a
# run begins, or by an event at time 0. SINK is Agent/TCPSink (the default) or Agent/TCPSink/DelAck.
lassign $argv bandwidth rtt factor window flows threshold sink_class
if {$sink_class eq ""} {set sink_class Agent/TCPSink}
set ns [new Simulator]
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right ${bandwidth}Mb [expr {$rtt / 2.0 - 1}]ms DropTail
$ns queue-limit $left $right 80
for {set i 0} {$i < $flows} {incr i} {
    set sender [$ns node]
    set receiver [$ns node]
    $ns duplex-link $sender $left [expr {double($bandwidth) / $flows * $factor}]Mb 0.5ms DropTail
    $ns queue-limit $sender $left 100000
    $ns duplex-link $right $receiver 1000Mb 0.5ms DropTail
    $ns queue-limit $right $receiver 100000
    set source($i) [new Agent/TCP/Newreno]
    $source($i) set packetSize_ 1460
    if {$threshold eq "20"} {
        $ns at 0.0 "$source($i) set window_ $window"
    } else {
        $source($i) set window_ $window
    }
    set sink [new $sink_class]
    $ns attach-agent $sender $source($i)
    $ns attach-agent $receiver $sink
    $ns connect $source($i) $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $source($i)
    $ns at 0.0 "$ftp start"
}
set monitor [$ns monitor-queue $left $right [open /dev/null w]]

# packets_sent, bottleneck_arrivals, bottleneck_drops, packets_acked
proc finish {} {
    global source flows monitor
    set sent 0
    set acked 0
    for {set i 0} {$i < $flows} {incr i} {
        incr sent [$source($i) set ndatapack_]
        incr acked [$source($i) set ack_]
    }
    puts "$sent,[$monitor set parrivals_],[$monitor set pdrops_],$acked"
    exit 0
}
$ns at 10.0 finish
$ns run
