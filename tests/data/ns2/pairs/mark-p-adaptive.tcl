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
Queue/RED set q_weight_ 0.002
Queue/RED set adaptive_ 1
Queue/RED set setbit_ true
$ns simplex-link $n0 $n1 2Mb 0.01 RED
$ns queue-limit $n0 $n1 50
$ns simplex-link $n1 $n0 2Mb 0.01 DropTail
$ns queue-limit $n1 $n0 1000
set s0 [new Agent/TCP/Newreno]
$s0 set window_ 100
$s0 set ecn_ 1
set k0 [new Agent/TCPSink]
$s0 set fid_ 0
$ns attach-agent $n0 $s0
$ns attach-agent $n1 $k0
$ns connect $s0 $k0
set a0 [new Application/FTP]
$a0 attach-agent $s0
set s1 [new Agent/TCP/Newreno]
$s1 set window_ 100
$s1 set ecn_ 1
set k1 [new Agent/TCPSink]
$s1 set fid_ 1
$ns attach-agent $n0 $s1
$ns attach-agent $n1 $k1
$ns connect $s1 $k1
set a1 [new Application/FTP]
$a1 attach-agent $s1
set s2 [new Agent/TCP/Newreno]
$s2 set window_ 100
$s2 set ecn_ 1
set k2 [new Agent/TCPSink]
$s2 set fid_ 2
$ns attach-agent $n0 $s2
$ns attach-agent $n1 $k2
$ns connect $s2 $k2
set a2 [new Application/FTP]
$a2 attach-agent $s2
set s3 [new Agent/TCP/Newreno]
$s3 set window_ 100
$s3 set ecn_ 1
set k3 [new Agent/TCPSink]
$s3 set fid_ 3
$ns attach-agent $n0 $s3
$ns attach-agent $n1 $k3
$ns connect $s3 $k3
set a3 [new Application/FTP]
$a3 attach-agent $s3
$ns at 0.1 "$a0 start"
$ns at 0.23 "$a1 start"
$ns at 0.36 "$a2 start"
$ns at 0.49 "$a3 start"
$ns at 6 "$ns flush-trace; close $trace; exit 0"
$ns run
