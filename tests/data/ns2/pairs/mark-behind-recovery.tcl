set ns [new Simulator]
set trace [open [lindex $argv 0] w]
$ns trace-all $trace
set n0 [$ns node]
set n1 [$ns node]
set n2 [$ns node]
set n3 [$ns node]
set n4 [$ns node]
Queue/RED set bytes_ true
Queue/RED set queue_in_bytes_ true
Queue/RED set mean_pktsize_ 1000
Queue/RED set thresh_ 5
Queue/RED set maxthresh_ 15
Queue/RED set q_weight_ 0.05
Queue/RED set wait_ false
Queue/RED set setbit_ true
$ns simplex-link $n0 $n1 0.5Mb 0.024 RED
$ns queue-limit $n0 $n1 30
$ns simplex-link $n1 $n0 0.5Mb 0.024 DropTail
$ns queue-limit $n1 $n0 1000
$ns simplex-link $n1 $n2 4Mb 0.023 DropTail
$ns queue-limit $n1 $n2 20
$ns simplex-link $n2 $n1 4Mb 0.023 DropTail
$ns queue-limit $n2 $n1 1000
$ns simplex-link $n3 $n0 50Mb 0.027 DropTail
$ns queue-limit $n3 $n0 1000
$ns simplex-link $n0 $n3 50Mb 0.027 DropTail
$ns queue-limit $n0 $n3 1000
$ns simplex-link $n2 $n4 50Mb 0.027 DropTail
$ns queue-limit $n2 $n4 1000
$ns simplex-link $n4 $n2 50Mb 0.027 DropTail
$ns queue-limit $n4 $n2 1000
set s0 [new Agent/TCP/Sack1]
$s0 set packetSize_ 536
$s0 set window_ 200
$s0 set windowInit_ 3
$s0 set ecn_ 1
set k0 [new Agent/TCPSink/Sack1]
$s0 set fid_ 0
$ns attach-agent $n3 $s0
$ns attach-agent $n4 $k0
$ns connect $s0 $k0
set a0 [new Application/FTP]
$a0 attach-agent $s0
set s1 [new Agent/TCP/Newreno]
$s1 set windowInit_ 10
set k1 [new Agent/TCPSink]
$s1 set fid_ 1
$ns attach-agent $n3 $s1
$ns attach-agent $n4 $k1
$ns connect $s1 $k1
set a1 [new Application/FTP]
$a1 attach-agent $s1
set s2 [new Agent/TCP/Newreno]
$s2 set packetSize_ 1460
set k2 [new Agent/TCPSink]
$s2 set fid_ 2
$ns attach-agent $n3 $s2
$ns attach-agent $n4 $k2
$ns connect $s2 $k2
set a2 [new Application/FTP]
$a2 attach-agent $s2
$ns at 0 "$a0 start"
$ns at 2 "$a1 start"
$ns at 1 "$a2 start"
$ns at 5 "$ns flush-trace; close $trace; exit 0"
$ns run
