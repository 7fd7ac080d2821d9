set ns [new Simulator]
set trace [open [lindex $argv 0] w]
$ns trace-all $trace
set n0 [$ns node]
set n1 [$ns node]
$ns simplex-link $n0 $n1 4Mb 0.01 DropTail
$ns queue-limit $n0 $n1 2
$ns simplex-link $n1 $n0 4Mb 0.01 DropTail
$ns queue-limit $n1 $n0 1000
set s0 [new Agent/TCP/Sack1]
$s0 set window_ 20
$s0 set windowInit_ 10
set k0 [new Agent/TCPSink/Sack1]
$s0 set fid_ 0
$ns attach-agent $n0 $s0
$ns attach-agent $n1 $k0
$ns connect $s0 $k0
set a0 [new Application/Traffic/CBR]
$a0 set packetSize_ 1000
$a0 set rate_ 1000000
$a0 attach-agent $s0
set s1 [new Agent/UDP]
$s1 set packetSize_ 1000
set k1 [new Agent/Null]
$s1 set fid_ 1
$ns attach-agent $n0 $s1
$ns attach-agent $n1 $k1
$ns connect $s1 $k1
set a1 [new Application/Traffic/CBR]
$a1 set packetSize_ 1000
$a1 set rate_ 1Mb
$a1 attach-agent $s1
$ns at 0.1 "$a0 start"
$ns at 0.2 "$a1 start"
$ns at 0.84 "$a1 stop"
$ns at 3 "$ns flush-trace; close $trace; exit 0"
$ns run
