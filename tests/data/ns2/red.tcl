# One link of 2 Mbit/s and 10 ms with RED, for 10 s. Usage: ns red.tcl CASE FILE
set ns [new Simulator]
set case [lindex $argv 0]
if {$case != "defaults"} {
    Queue/RED set bytes_ false
    Queue/RED set queue_in_bytes_ false
    Queue/RED set mean_pktsize_ 1000
    Queue/RED set thresh_ 5
    Queue/RED set maxthresh_ 15
    Queue/RED set q_weight_ 0.002
}
if {[string match adaptive* $case]} { Queue/RED set adaptive_ 1 }
set flows 4
if {$case == "adaptive-many"} { set flows 20 }
set agents [dict create tahoe TCP reno TCP/Reno newreno TCP/Newreno sack TCP/Sack1]
set recovery newreno
if {[string match ecn-* $case]} {
    set flows 2
    set recovery [string range $case 4 end]
    Queue/RED set setbit_ true
    Agent/TCP set ecn_ 1
}
if {$case == "hard"} { Queue/RED set gentle_ false; Queue/RED set wait_ false }
set trace [open [lindex $argv 1] w]
$ns trace-all $trace
set sender [$ns node]
set receiver [$ns node]
$ns simplex-link $sender $receiver 2Mb 10ms RED
$ns simplex-link $receiver $sender 2Mb 10ms DropTail
if {$case == "udp"} {
    set agent [new Agent/UDP]
    $ns attach-agent $sender $agent
    set sink [new Agent/Null]
    $ns attach-agent $receiver $sink
    $ns connect $agent $sink
    set cbr [new Application/Traffic/CBR]
    $cbr attach-agent $agent
    $cbr set packetSize_ 1000
    $cbr set rate_ 2.2Mb
    $ns at 0.1 "$cbr start"
} else {
    for {set flow 0} {$flow < $flows} {incr flow} {
        set agent [new Agent/[dict get $agents $recovery]]
        $agent set window_ 100
        $agent set fid_ $flow
        $ns attach-agent $sender $agent
        set sink [new Agent/TCPSink[expr {$recovery == "sack" ? "/Sack1" : ""}]]
        $ns attach-agent $receiver $sink
        $ns connect $agent $sink
        set ftp [new Application/FTP]
        $ftp attach-agent $agent
        $ns at [expr 0.1 + 0.13 * $flow] "$ftp start"
    }
}
$ns at 10.0 "$ns flush-trace; close $trace; exit 0"
$ns run
