set ns [new Simulator]
set trace [open [lindex $argv 0] w]
$ns trace-all $trace
set n0 [$ns node]
set n1 [$ns node]
$ns simplex-link $n0 $n1 10Mb 0.01 DropTail
$ns queue-limit $n0 $n1 2
$ns simplex-link $n1 $n0 10Mb 0.01 DropTail
$ns queue-limit $n1 $n0 1000
set s0 [new Agent/TCP/Sack1]
set k0 [new Agent/TCPSink/Sack1]
$s0 set fid_ 0
$ns attach-agent $n0 $s0
$ns attach-agent $n1 $k0
$ns connect $s0 $k0
set a0 [new Application/FTP]
$a0 attach-agent $s0
$ns at 0.1 "$a0 start"
$ns at 7.03 "$a0 stop"
$ns at 8 "$ns flush-trace; close $trace; exit 0"
$ns run
