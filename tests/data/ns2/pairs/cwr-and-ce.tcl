set ns [new Simulator]
set trace [open [lindex $argv 0] w]
$ns trace-all $trace
set n0 [$ns node]
set n1 [$ns node]
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set mean_pktsize_ 1000
Queue/RED set thresh_ 2
Queue/RED set maxthresh_ 6
Queue/RED set q_weight_ 0.1
Queue/RED set gentle_ false
Queue/RED set wait_ false
Queue/RED set setbit_ true
$ns simplex-link $n0 $n1 1Mb 0.03 RED
$ns queue-limit $n0 $n1 15
$ns simplex-link $n1 $n0 1Mb 0.03 DropTail
$ns queue-limit $n1 $n0 1000
set s0 [new Agent/TCP/Sack1]
$s0 set window_ 20
$s0 set ecn_ 1
set k0 [new Agent/TCPSink/Sack1/DelAck]
$s0 set fid_ 0
$ns attach-agent $n0 $s0
$ns attach-agent $n1 $k0
$ns connect $s0 $k0
set a0 [new Application/FTP]
$a0 attach-agent $s0
$ns at 0.1 "$a0 start"
$ns at 8 "$ns flush-trace; close $trace; exit 0"
$ns run
