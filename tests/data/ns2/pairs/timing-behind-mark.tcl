set ns [new Simulator]
set trace [open [lindex $argv 0] w]
$ns trace-all $trace
set n0 [$ns node]
set n1 [$ns node]
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set mean_pktsize_ 1000
Queue/RED set thresh_ 5
Queue/RED set maxthresh_ 15
Queue/RED set q_weight_ 0.02
Queue/RED set setbit_ true
$ns simplex-link $n0 $n1 10Mb 0.04 RED
$ns queue-limit $n0 $n1 50
$ns simplex-link $n1 $n0 10Mb 0.04 DropTail
$ns queue-limit $n1 $n0 1000
set s0 [new Agent/TCP/Reno]
$s0 set window_ 100
$s0 set ecn_ 1
set k0 [new Agent/TCPSink/DelAck]
$s0 set fid_ 0
$ns attach-agent $n0 $s0
$ns attach-agent $n1 $k0
$ns connect $s0 $k0
set a0 [new Application/FTP]
$a0 attach-agent $s0
set s1 [new Agent/TCP/Reno]
$s1 set window_ 100
$s1 set ecn_ 1
set k1 [new Agent/TCPSink/DelAck]
$s1 set fid_ 1
$ns attach-agent $n0 $s1
$ns attach-agent $n1 $k1
$ns connect $s1 $k1
set a1 [new Application/FTP]
$a1 attach-agent $s1
$ns at 0.1 "$a0 start"
$ns at 0.23 "$a1 start"
$ns at 3 "$ns flush-trace; close $trace; exit 0"
$ns run
